import { RETENTION } from '../../shared/event/event.ts'
import { deliveryIdFor, eventIdFor, subjectOfPayment } from '../../shared/ids.ts'
import type { Approvable } from '../../shared/operator/approval-store.ts'
import { approve } from '../../shared/operator/approve.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { payoutFigures } from '../../shared/payout/payout-figures.ts'
import { bookSuspense } from '../../shared/posting/house-journal.ts'
import { recordSuspense } from '../../shared/suspense/record-suspense.ts'
import { deliveryKey, windowKey } from '../../shared/table/keys.ts'
import { exists, put, update } from '../../shared/table/step.ts'
import { expiresAfter } from '../../shared/time.ts'
import { recordDifferences } from '../../shared/verdict/verdict-store.ts'
import { deliveryRow } from '../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../shared/webhook/endpoint/endpoint.ts'
import { aHouseRow, someHeldMoney } from './money-rows.ts'
import { aSucceededPayment } from './paid-builders.ts'
import { aPendingPayment, aStoredClient, issueKey } from './payment-builders.ts'
import {
  aDayLater,
  auditedNow,
  fail,
  payOut,
  settledAmount,
  withoutFloor,
} from './settlement-builders.ts'
import { creditedPayment, paidUpstream } from './synced-payment.ts'
import type { TestDeps } from './test-deps.ts'
import { ABANDONED, listedDelivery, rowOf, storedEndpoint } from './webhook-builders.ts'
import { APPROVER } from './with-approval.ts'

const STANDING = { what: 'window.written_off_minor', expected: 0, found: 1 }

/**
 * A merchant with an item of every kind: the ids that `RIGHT_PAYLOADS` names, and the merchant's
 * key.
 */
export async function operatorWorld(deps: TestDeps) {
  const [client, stranger] = [await withoutFloor(deps), await aStoredClient(deps)]
  const { key, header } = await issueKey(deps, client.clientId)
  const endpoint = await storedEndpoint(deps, { clientId: client.clientId })
  const failed = await fail(deps, await settledAmount(deps, client))
  const returned = await payOut(deps, await settledAmount(deps, await withoutFloor(deps)))
  const settlement = await settledAmount(deps, client)
  await aSucceededPayment(deps, client)
  aDayLater(deps)
  const pending = await aPendingPayment(deps, client)
  const { payment: succeeded } = await creditedPayment(deps, client)
  const { payment: paid } = await paidUpstream(deps, client)
  // Its merchant has no endpoint: no delivery is under way.
  const { payment: quiet } = await creditedPayment(deps, stranger, { customer: { name: 'Sari' } })
  const delivery = await abandonedDelivery(deps, endpoint, succeeded)
  const suspense = `py-held-${deps.newId()}`
  const held = someHeldMoney(deps, suspense, 5_000)
  await recordSuspense(deps, held)
  await bookSuspense(deps, held, aHouseRow(deps, 'txn-held', 5_000))
  await auditedNow(deps, settlement)
  await recordDifferences(
    deps,
    stranger.clientId,
    new Map([['figures', [{ ...STANDING, id: stranger.clientId }]]]),
    undefined,
  )
  const torn = await aStoredClient(deps)
  await deps.table.write(update(windowKey(torn.clientId), { add: { paidOutMinor: 1 } }))
  const settlementId = settlement.settlementId
  await approveAll(deps, [
    {
      action: 'mark-settlement-paid',
      payload: { settlement_id: settlementId, ...(await payoutFigures(deps, settlement)) },
    },
    {
      action: 'accept-difference',
      payload: { client_id: stranger.clientId, id: stranger.clientId, ...STANDING },
    },
    { action: 'recredit-settlement', payload: { settlement_id: failed.settlementId } },
    {
      action: 'return-payout',
      payload: { settlement_id: returned.settlementId, bank_reference: 'BCA18' },
    },
    { action: 'refund-payment', payload: { payment_id: succeeded.paymentId, ...REFUND } },
    { action: 'adjust-house', payload: BANK_CHARGE },
  ])
  const names: Readonly<Record<string, string>> = {
    $client: client.clientId,
    $stranger: stranger.clientId,
    $torn: torn.clientId,
    $key: key.keyId,
    $endpoint: endpoint.endpointId,
    $pending: pending.paymentId,
    $succeeded: succeeded.paymentId,
    $quiet: quiet.paymentId,
    $paid: paid.paymentId,
    $delivery: delivery.deliveryId,
    $event: delivery.eventId,
    $settlement: settlementId,
    $returned: returned.settlementId,
    $failed: failed.settlementId,
    $suspense: suspense,
  }
  return { client, header, names }
}

/** Of an event that the payment has: the books of its client have no other. */
async function abandonedDelivery(
  deps: TestDeps,
  { endpointId }: Endpoint,
  { paymentId }: Pick<Payment, 'paymentId'>,
) {
  const eventId = eventIdFor(subjectOfPayment(paymentId), 'payment.succeeded')
  const scheduled = await rowOf(deps, { deliveryId: deliveryIdFor(eventId, endpointId) })
  const delivery = { ...scheduled, ...ABANDONED }
  const key = deliveryKey(delivery.deliveryId)
  const ttl = expiresAfter(deps.now(), RETENTION.deliveryMs)
  const row = deliveryRow({ ...listedDelivery(delivery), ttl })
  await deps.table.write(put(key, row, exists))
  return delivery
}

async function approveAll(deps: TestDeps, actions: readonly Approvable[]) {
  for (const action of actions) await approve(deps, { ...action, operator: APPROVER })
}

const REFUND = { amount_minor: 10_000, bank_reference: 'BCA19' }
const BANK_CHARGE = { bank_minor: -6_500, cost_minor: -6_500, reference: 'CHARGE-1' }

const ASKED = { operator: 'ayu', client_id: '$client' }

/** Texts with a dollar stand for ids of the test's world. */
export const RIGHT_PAYLOADS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'create-client': { operator: 'ayu', name: 'Warung Dua' },
  'update-client': { ...ASKED, name: 'Warung Dua' },
  'get-client': { client_id: '$client' },
  'list-clients': {},
  'issue-api-key': ASKED,
  'revoke-api-key': { ...ASKED, key_id: '$key' },
  'list-api-keys': { client_id: '$client' },
  'register-endpoint': { ...ASKED, url: 'https://merchant.example/hooks', event_types: ['*'] },
  'update-endpoint': { ...ASKED, endpoint_id: '$endpoint', enabled: false },
  'delete-endpoint': { ...ASKED, endpoint_id: '$endpoint' },
  'list-endpoints': { client_id: '$client' },
  'send-test-event': { ...ASKED, endpoint_id: '$endpoint' },
  'get-payment': { payment_id: '$succeeded' },
  'find-payments': { client_id: '$client', payment_destination: '381652390000001' },
  'refresh-payment': { operator: 'ayu', payment_id: '$paid' },
  'erase-customer': { operator: 'ayu', payment_id: '$quiet' },
  'list-deliveries': { client_id: '$client', status: 'abandoned' },
  redeliver: { ...ASKED, endpoint_id: '$endpoint', since: '2026-11-20T04:00:00Z' },
  'trigger-settlement': ASKED,
  'list-settlements': { client_id: '$client' },
  'mark-settlement-paid': {
    operator: 'ayu',
    settlement_id: '$settlement',
    bank_reference: 'BCA17',
  },
  'payout-file': { operator: 'ayu' },
  'payout-answer': {
    operator: 'ayu',
    lines: [
      {
        line: 2,
        settlement_id: '$settlement',
        amount_minor: 95_900,
        bank_account_no: '0012345678',
        outcome: 'paid',
        bank_reference: 'BCA20',
      },
    ],
  },
  'accept-difference': {
    operator: 'ayu',
    client_id: '$stranger',
    id: '$stranger',
    ...STANDING,
    notes: 'known',
  },
  approve: {
    operator: 'ayu',
    action: 'recredit-settlement',
    payload: { settlement_id: '$failed' },
  },
  'mark-settlement-failed': {
    operator: 'ayu',
    settlement_id: '$settlement',
    notes: 'the bank refused it',
  },
  'recredit-settlement': { operator: 'ayu', settlement_id: '$failed', notes: 'pay out again' },
  'return-payout': { operator: 'ayu', settlement_id: '$returned', bank_reference: 'BCA18' },
  'refund-payment': { operator: 'ayu', payment_id: '$succeeded', ...REFUND },
  'adjust-house': { operator: 'ayu', ...BANK_CHARGE },
  'get-settlement-statement': { settlement_id: '$settlement' },
  'get-statement': { client_id: '$client' },
  'adjust-ledger': { ...ASKED, kind: 'correction', amount_minor: -5_000, reference: 'BANK-1' },
  'audit-ledger': { client_id: '$client' },
  'recount-ledger': { operator: 'ayu', client_id: '$torn' },
  'get-books': { client_id: '$client' },
  'list-audit': { client_id: '$client' },
  'list-suspense': { client_id: '$client' },
  'resolve-suspense': { operator: 'ayu', suspense_id: '$suspense', resolution: 'written_off' },
}
