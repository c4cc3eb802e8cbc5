import * as v from 'valibot'
import { DAYS_TO_PAYOUT } from '../demo-walk.ts'
import type { LocalCaller } from '../local-caller.ts'
import { eventually } from '../process/eventually.ts'
import type { Json } from './json-schema-of.ts'
import type { Walk } from './walk.ts'

const DAY = 24 * 3_600

const Settlements = v.object({ data: v.array(v.object({ id: v.string() })) })

/** A settlement from its record to its payout, and another merchant's that fails. */
export async function walkPayout({ caller, key, record }: Walk, payment: Json) {
  const otherKey = await paidMerchant(caller, payment)
  await caller.advance(DAYS_TO_PAYOUT * DAY)
  await caller.invoke('sync-provider-transactions', {})
  await caller.invoke('sweep-settlements', {})
  const id = await newestSettlement(caller, key)
  const recorded = await caller.webhook('settlement.recorded')
  await record('api-list-settlement-payments', 'payments', 'All entries', { id })
  await record('api-list-settlement-payments', 'after', 'An invalid cursor', {
    id,
    query: 'after=x',
  })
  await record('api-list-balance-entries', 'entries', 'All entries so far')
  await record('api-list-balance-entries', 'after', 'An invalid cursor', { query: 'after=x' })
  await record('api-get-settlement', 'recorded', 'Recorded, not paid out yet', { id })
  await record('api-get-balance', 'in_settlement', 'With the money in settlement and paid out', {
    query: 'include=settlements',
  })
  await caller.payOut(id, 'BCA-0120')
  await record('api-get-settlement', 'paid_out', 'Paid out', { id, query: 'include=payout' })
  await record('api-get-settlement', 'include', 'An unknown part', { id, query: 'include=all' })
  await record('api-list-settlements', 'paid_out', 'One payout so far')
  await record('api-get-statement', 'month', 'This month so far, with the payout')
  await record('api-get-statement', 'to', 'An invalid day', { query: 'to=x' })
  const paid = await caller.webhook('settlement.paid')
  await caller.act('mark-settlement-failed', {
    settlement_id: await newestSettlement(caller, otherKey),
    notes: 'the bank says that the account is closed',
  })
  return [recorded, paid, await caller.webhook('settlement.failed')]
}

function newestSettlement(caller: LocalCaller, key: string) {
  return eventually('no settlement', async () => {
    const { body } = await caller.call('api-list-settlements', { key })
    return v.parse(Settlements, body).data[0]?.id
  })
}

async function paidMerchant(caller: LocalCaller, payment: Json) {
  const fields = { name: 'Toko Roti', settlement_floor_minor: 0 }
  const { key } = await caller.merchant(fields, ['*', 'settlement.failed'])
  const create = { key, body: payment, idempotencyKey: 'order-1' }
  const { body } = await caller.call('api-create-payment', create)
  await caller.pay(String(body['id']))
  await caller.webhook('payment.succeeded', String(body['id']))
  return key
}
