import * as v from 'valibot'
import type { Merchant } from '../merchant.ts'
import { eventually, expect, OPERATOR, type Rehearsal } from '../rehearsal.ts'
import { advance, type TakenPayments } from './take-payments.ts'

const DAY_SECONDS = 86_400
/** Past every weekend the provider may take to settle, and past the 24 hours of the sweep. */
const DAYS_TO_PAYOUT = 5

const SettlementSchema = v.object({ id: v.string(), status: v.string(), net_minor: v.number() })
const SettlementsSchema = v.object({ data: v.array(SettlementSchema) })
/** Of a run that broke off there is no word but that. */
const SyncSchema = v.union([v.object({ complete: v.boolean() }), v.undefined()])
export type Settlement = v.InferOutput<typeof SettlementSchema>

const PayoutFileSchema = v.object({
  csv: v.string(),
  left_out: v.array(v.object({ settlement_id: v.string(), reason: v.string() })),
})

const SYNC_RUNS = 20

/** Runs the sync by hand until it has read everything there is. One that meets a jump of the clock may break off: the next goes on. */
export const syncCompletely = async ({ admin }: Rehearsal): Promise<void> => {
  for (let run = 0; run < SYNC_RUNS; run++) {
    if (v.parse(SyncSchema, await admin('sync-provider-transactions', {}, [0, 1]))?.complete) return
  }
  throw new Error(`the sync is not complete after ${SYNC_RUNS} runs`)
}

const recorded = (merchant: Merchant, before: readonly Settlement[]) =>
  eventually('a settlement', async () => {
    const { data } = await merchant.get(SettlementsSchema, 'settlements')
    return data.find(({ id }) => before.every((one) => one.id !== id))
  })

/** A settlement is audited a minute after it was recorded, and only then paid out. */
const AUDITED_AFTER_SECONDS = 120

/** Audited by due work, in the bank's file, then marked paid with the bank's reference. */
const payOutNow = async (rehearsal: Rehearsal, { id }: Settlement, reference: string): Promise<void> => {
  const { admin } = rehearsal
  advance(rehearsal, AUDITED_AFTER_SECONDS)
  await admin('check-due-work')
  const { csv, left_out: leftOut } = await eventually('an audit of the settlement', async () => {
    const file = v.parse(PayoutFileSchema, await admin('list-settlements', { status: 'recorded', format: 'csv' }))
    return file.left_out.some(({ reason }) => reason === 'not audited yet') ? undefined : file
  })
  expect(csv.includes(id), `the bank's file leaves the settlement out: ${JSON.stringify(leftOut)}`)
  const order = { operator: OPERATOR, settlement_id: id, bank_reference: reference }
  const paid = v.parse(SettlementSchema, await admin('mark-settlement-paid', order))
  expect(paid.status === 'manual_paid', `the settlement is ${paid.status}`)
}

/** Days later: fees are final, what went back is known, the sweep settles, a bank pays, another one refuses first. */
export const payOut = async (rehearsal: Rehearsal, merchant: Merchant, { unpaid }: TakenPayments) => {
  const { step, admin } = rehearsal
  const operator = { operator: OPERATOR }
  const days = async () => {
    advance(rehearsal, DAYS_TO_PAYOUT * DAY_SECONDS)
    await syncCompletely(rehearsal)
  }
  const settlement = await step(`${DAYS_TO_PAYOUT} days later, by sync and sweep, there is a settlement`, async () => {
    await days()
    await admin('sweep-settlements')
    return recorded(merchant, [])
  })
  await step('the unpaid payment has expired by due work', async () => {
    await admin('check-due-work')
    await merchant.hasStatus(unpaid, 'expired')
  })
  await step('an operator pays it out', async () => {
    await admin('list-settlements', { status: 'recorded' })
    await admin('get-settlement-statement', { settlement_id: settlement.id })
    await payOutNow(rehearsal, settlement, 'transfer 1')
  })
  const failed = await step('another one, triggered by hand, is refused by the bank', async () => {
    await merchant.pay(await merchant.create('order-4'))
    await days()
    // Refused where the sweep was there first: its own time passes too while the clock is put on.
    await admin('trigger-settlement', { ...operator, client_id: merchant.clientId }, [0, 1])
    const found = await recorded(merchant, [settlement])
    await admin('mark-settlement-failed', { ...operator, settlement_id: found.id, notes: 'refused' })
    return found
  })
  const again = await step('recredited, it is recorded again by the next sweep, and paid out', async () => {
    await admin('recredit-settlement', { ...operator, settlement_id: failed.id, notes: 'account corrected' })
    await admin('sweep-settlements')
    const found = await recorded(merchant, [settlement, failed])
    expect(found.net_minor === failed.net_minor, `${found.net_minor} is not ${failed.net_minor}`)
    await payOutNow(rehearsal, found, 'transfer 2')
    return found
  })
  return { settlement, failed, again }
}
