import { beforeAll, describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import { eventNamesOf } from '../../../shared/audit/judged/audit-event.ts'
import { derivedUuid, slotOf } from '../../../shared/ids.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import {
  clientKey,
  eventKey,
  type Key,
  paymentKey,
  settlementKey,
  shardKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import {
  jsonTamperingsOf,
  putRaw,
  rawItem,
  type Tampering,
  tamperingsOf,
  type Unwitnessed,
} from '../../support/tampering.ts'
import { type AuditedHistory, auditedHistory } from './audited-history.ts'
import { unseenBy } from './unseen-by.ts'

/**
 * Goal: no single tampered amount, fee, status, time, count or sum goes unseen. Method: one client that has been
 * through everything; every attribute of every item of its books is changed or taken away, one at a time, after the
 * gateway's back; the audit must say so and name the item. Only attributes listed here are passed over.
 */
let history: AuditedHistory
beforeAll(async () => {
  history = await auditedHistory(memoryDeps())
})

/** What the provider says and nobody repeats; the sync holds it against the provider's transactions. */
const PROVIDER_IDS = ['provider', 'payment_request_id', 'provider_attempts', 'credited_provider_payment_id']

/** Times that nothing else repeats are judged for sense only. A payment without an event has fewer witnesses. */
const ofPayment: Unwitnessed = {
  loose: PROVIDER_IDS,
  imprecise: [
    'expires_at',
    'cancel_requested_at',
    'expiry_started_at',
    'provider_settled_at',
    'due_at',
    'final_fee.at',
    // An empty list is kept of a payment that nothing has moved.
    'movements',
  ],
}
const ofEvent: Unwitnessed = { loose: [], imprecise: [] }
const ofQuietPayment: Unwitnessed = {
  ...ofPayment,
  loose: [...ofPayment.loose, 'payment_destination'],
  imprecise: [...ofPayment.imprecise, 'transitions.0.at', 'listed_at'],
}
const PAYMENTS = ['settledActual', 'refunded', 'estimated', 'pending', 'failedPayment']

/** Its times are judged for sense: a credit leaves no other one. */
const OF_SHARD: Unwitnessed = { loose: [], imprecise: ['closed_until', 'credited_at'] }

/** The tamperings that the audit does not see, or sees without naming one of `ids`. */
const unseen = (tamperings: readonly Tampering[], ids: readonly string[]) =>
  unseenBy(history.deps, history.client.clientId, { tamperings, ids })

const paymentCalled = (name: string) => {
  const payment = history.payments[name]
  if (payment === undefined) throw new Error(`there is no payment ${name}`)
  return payment
}

const unseenIn = async (key: Key, unwitnessed: Unwitnessed, ids: readonly string[]) =>
  unseen(tamperingsOf(await rawItem(history.deps, key), unwitnessed), ids)

describe('audit-ledger (design section 4, Audit) sees a tampered', () => {
  it.each(PAYMENTS)(
    'payment: %s',
    async (name) => {
      const payment = paymentCalled(name)
      const { paymentId } = payment
      const unwitnessed = eventNamesOf(payment).length === 0 ? ofQuietPayment : ofPayment

      // A field that an entry repeats is named by the entry.
      const entries = entriesOf(payment).map(({ entryId }) => entryId)

      expect(await unseenIn(paymentKey(paymentId), unwitnessed, [paymentId, ...entries])).toStrictEqual([])
    },
    120_000,
  )

  it.each(PAYMENTS.filter((name) => name !== 'pending' && name !== 'cancelled'))(
    'event of: %s',
    async (name) => {
      const payment = paymentCalled(name)
      const row = await rawItem(history.deps, eventKey(payment.paymentId, eventNamesOf(payment)[0] ?? ''))
      // When it goes is moved by each redelivery.
      const { ttl: _, ...kept } = row
      const tamperings = [...tamperingsOf(kept, ofEvent), ...jsonTamperingsOf(kept, 'body')]
      expect(await unseen(tamperings, [payment.paymentId])).toStrictEqual([])
    },
    120_000,
  )

  it('event of a movement, but for the sum that it tells', async () => {
    const refunded = paymentCalled('refunded')
    const names = eventNamesOf(refunded)
    const { ttl: _, ...kept } = await rawItem(history.deps, eventKey(refunded.paymentId, names[1] ?? ''))
    const ofBody = jsonTamperingsOf(kept, 'body').filter(({ name }) => !name.includes('taken_back_minor'))
    expect(await unseen([...tamperingsOf(kept, ofEvent), ...ofBody], [refunded.paymentId])).toStrictEqual([])
  }, 120_000)

  it.each(['failed', 'paid', 'recorded'] as const)(
    'settlement: %s',
    async (name) => {
      const { settlementId } = history.settlements[name]
      const unwitnessed = { loose: ['slot'], imprecise: [] }
      const carried = derivedUuid('recredit', settlementId)

      expect(await unseenIn(settlementKey(settlementId), unwitnessed, [settlementId, carried])).toStrictEqual([])
    },
    120_000,
  )

  it('window', async () => {
    const { clientId } = history.client

    const seen = unseenIn(windowKey(clientId), { loose: [], imprecise: ['closed_until'] }, [clientId, '16'])

    expect(await seen).toStrictEqual([])
  }, 120_000)

  it.each(['settledActual', 'pending'])(
    'shard of: %s',
    async (name) => {
      const { clientId } = history.client
      const shard = slotOf(paymentCalled(name).paymentId, LEDGER_SHARDS)

      expect(await unseenIn(shardKey(clientId, shard), OF_SHARD, [String(shard), clientId, 'ledger'])).toStrictEqual([])
    },
    120_000,
  )

  it('beginning of the client', async () => {
    const { client, deps } = history
    const item = await rawItem(deps, clientKey(client.clientId))
    const createdAt = '2026-11-20T04:00:00.001Z'

    await putRaw(deps, { ...item, created_at: createdAt })
    const { balanced, differences } = await auditLedger(deps, client.clientId)
    await putRaw(deps, item)

    expect(balanced).toBe(false)
    expect(differences).toContainEqual(expect.objectContaining({ what: 'settlement.swept_from', expected: createdAt }))
  })
})
