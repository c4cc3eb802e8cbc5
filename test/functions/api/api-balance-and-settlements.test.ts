import * as v from 'valibot'
import { expect, it } from 'vitest'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import type { SettlementDto } from '../../../shared/settlement/settlement-dto-schema.ts'
import { markClosed } from '../../../shared/settlement/settlement-store.ts'
import type { EntryDto } from '../../../shared/settlement/statement/entry-dto-schema.ts'
import {
  addMs,
  DAY_MS,
  type Timestamp,
  TimestampSchema,
  timestampOf,
} from '../../../shared/time.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { anOpenPayment, aSucceededPayment, post, postAssumed } from '../../support/paid-builders.ts'
import { issueKey } from '../../support/payment-builders.ts'
import {
  aSettledClient,
  BANK,
  payOut,
  storedSettlement,
  sweptADayLater,
} from '../../support/settlement-builders.ts'
import { requestsAround, withRequests } from '../../support/test-deps.ts'
import { payoutHistory } from './payout-history.ts'
import { aMerchantWithoutFloor, openNetOf } from './statement-merchant.ts'

it('GET /v1/settlements/{id} (spec 4.7, 2.3) shows every field, and null where there is no value yet', async () => {
  const { deps, caller, ask } = await anApi()
  const { clientId } = caller
  const show = async ({ settlementId: id }: Settlement) => (await ask('getSettlement', { id })).body
  const recorded = await storedSettlement(deps, { clientId })
  const paid = await storedSettlement(deps, { clientId, triggeredBy: 'manual', bank: BANK })
  const settledAt = '2026-11-21T09:00:00.000Z' as Timestamp
  await deps.table.write(
    markClosed({ ...paid, status: 'manual_paid', notes: 'batch 7', settledAt }),
  )

  const [before, after] = [await show(recorded), await show(paid)]

  expect(before).toStrictEqual({
    id: recorded.settlementId,
    client_id: clientId,
    period_start: '2026-11-18T02:00:00.000Z',
    period_end: '2026-11-19T02:00:00.000Z',
    gross_minor: 300_000,
    xendit_fees_minor: 12_000,
    hexolus_markup_minor: 300,
    net_minor: 287_700,
    currency: 'IDR',
    payment_count: 3,
    status: 'recorded',
    triggered_by: 'auto',
    bank_name: null,
    bank_account_no: null,
    bank_account_name: null,
    notes: null,
    settled_at: null,
    created_at: '2026-11-20T02:00:01.000Z',
  })
  expect(after).toStrictEqual({
    ...before,
    id: paid.settlementId,
    status: 'manual_paid',
    triggered_by: 'manual',
    bank_name: BANK.bankName,
    bank_account_no: BANK.bankAccountNo,
    bank_account_name: BANK.bankAccountName,
    notes: 'batch 7',
    settled_at: settledAt,
  })
})

it('GET /v1/settlements/{id}?include=payout adds the reference and the batch, and nothing else is taken', async () => {
  const { deps, caller, ask } = await anApi()
  const payout = { bankReference: 'BCA17#2', batch: 7 }
  const { clientId } = caller
  const { settlementId: id } = await storedSettlement(deps, { clientId, ...payout })
  const of = (include?: string) =>
    ask('getSettlement', { id, ...(include && { query: { include } }) })

  const plain = await of()

  expect(Object.keys(Object(plain.body))).not.toContain('batch')
  expect(await of('payout')).toMatchObject({
    status: 200,
    body: { ...Object(plain.body), bank_reference: 'BCA17#2', batch: 7 },
  })
  expect(await of('everything')).toMatchObject({ status: 422 })
})

it('GET /v1/settlements (spec 4.6) lists each settlement as fetch shows it, by period_end and not by created_at, newest first, and by id where period_end is equal', async () => {
  const { deps, caller, ask } = await anApi()
  const storedIds: string[] = []
  const october = (day: number) => timestampOf(Date.UTC(2026, 9, 1) + day * DAY_MS)
  for (const [at, day] of [3, 1, 2, 2, 2].entries()) {
    const period = { sweptFrom: october(0), sweptUntil: october(day), createdAt: october(9 - at) }
    storedIds.push(
      (await storedSettlement(deps, { clientId: caller.clientId, ...period })).settlementId,
    )
  }

  const pages = []
  for (const number of ['', '2', '3', '4']) {
    pages.push((await ask('listSettlements', { query: { page: number, per_page: '2' } })).body)
  }

  const [third, first, ...second] = storedIds
  const expected = [third, ...second.toSorted().toReversed(), first]
  expect(pages[0]?.['data']).toContainEqual((await ask('getSettlement', { id: third ?? '' })).body)
  const ids = pages.map(({ data }) => (data as SettlementDto[]).map(({ id }) => id))
  expect(ids).toStrictEqual([expected.slice(0, 2), expected.slice(2, 4), expected.slice(4), []])
  const paginations = [1, 2, 3, 4].map((number) => ({ page: number, per_page: 2 }))
  expect(pages.map((body) => body['pagination'])).toStrictEqual(paginations)
})

it('GET /v1/balance (spec 4.5) shows zeros, then what is pending, then what is in a settlement, what is paid out, and when a figure last changed', async () => {
  const { deps, caller, ask } = await aMerchantWithoutFloor()

  const before = await ask('getBalance')
  await aSucceededPayment(deps, caller)
  const paidAt = deps.now()
  const paid = await ask('getBalance')
  const settlement = await sweptADayLater(deps, caller)
  const settled = await ask('getBalance', { query: { include: 'settlements' } })
  const { settledAt } = await payOut(deps, settlement)
  const paidOut = await ask('getBalance', { query: { include: 'settlements' } })

  const zeros = {
    client_id: caller.clientId,
    currency: 'IDR',
    available_minor: 0,
    pending_minor: 0,
  }
  expect(before.body).toStrictEqual({ ...zeros, updated_at: null })
  expect(paid.body).toStrictEqual({ ...zeros, pending_minor: 95_900, updated_at: paidAt })
  const inSettlement = { in_settlement_minor: 95_900, paid_out_minor: 0 }
  const { createdAt } = settlement
  expect(settled.body).toStrictEqual({ ...zeros, ...inSettlement, updated_at: createdAt })
  const afterPayout = { in_settlement_minor: 0, paid_out_minor: 95_900 }
  expect(paidOut.body).toStrictEqual({ ...zeros, ...afterPayout, updated_at: settledAt })
})

it('GET /v1/payments/{id} (spec 2.1, 9) shows the fee that the provider kept, and the net less it, once the payment is posted', async () => {
  const { deps, caller, ask } = await anApi()
  const payment = await anOpenPayment(deps, caller)
  const fetched = async () => (await ask('getPayment', { id: payment.paymentId })).body
  const before = await fetched()

  await post(deps, payment, { feeMinor: 4_440 })

  const fee = { xendit_fee_minor: 4_440, client_net_minor: 95_460, fee_status: 'actual' }
  expect(before).toMatchObject({ xendit_fee_minor: 4_000, client_net_minor: 95_900 })
  expect(await fetched()).toStrictEqual({ ...before, ...fee })
})

it('a row’s eligible_at less 24 hours lies in the period of its settlement alone, and is the paid_at of a payment that was posted within a day', async () => {
  const { deps, caller, ask } = await aMerchantWithoutFloor()
  const paidLong = await anOpenPayment(deps, caller)
  const paid = await aSucceededPayment(deps, caller)
  await sweptADayLater(deps, caller)
  await postAssumed(deps, paidLong)
  await sweptADayLater(deps, caller)
  await adjustBalance(deps, caller, 'correction', 10_000)
  await sweptADayLater(deps, caller)
  await aSucceededPayment(deps, caller)

  const rows = (await ask('listBalanceEntries')).body['data'] as readonly EntryDto[]
  const periods = (await ask('listSettlements')).body['data'] as readonly SettlementDto[]

  expect(periods).toHaveLength(3)
  const dayBefore = ({ eligible_at: at }: EntryDto) => addMs(v.parse(TimestampSchema, at), -DAY_MS)
  const settlementsOf = (row: EntryDto) =>
    periods.flatMap(({ id, period_start: start, period_end: end }) =>
      start <= dayBefore(row) && dayBefore(row) < end ? [id] : [],
    )
  expect(rows.map(({ settlement_id: id }) => [id].filter((known) => known !== null))).toStrictEqual(
    rows.map(settlementsOf),
  )
  expect(rows.map(({ type, settlement_id: id }) => [type, id !== null])).toStrictEqual([
    ['payment', true],
    ['payment', true],
    ['correction', true],
    ['payment', false],
  ])
  const row = rows.find(({ payment_id: id }) => id === paid.paymentId)
  expect(row && dayBefore(row)).toBe(paid.paidAt)
})

const CSV = { accept: 'text/csv' }

/** A column of numbers of a CSV without line breaks in its cells. */
function columnOf(text: string, name: string) {
  const [header = '', ...rows] = text.trimEnd().split('\n')
  const at = header.split(',').indexOf(name)
  return rows.map((row) => Number(row.split(',')[at]))
}

function total(amounts: readonly number[]) {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}

it('GET /v1/balance/entries and the nets of open payments add up to the four figures of the balance, at every moment (design section 8)', async () => {
  const { deps, caller, ask } = await aMerchantWithoutFloor()
  const seen: string[] = []

  for await (const step of payoutHistory(deps, caller)) {
    const rows = (await ask('listBalanceEntries')).body['data'] as readonly EntryDto[]
    const { text } = await ask('listBalanceEntries', { headers: CSV })
    const { body } = await ask('getBalance', { query: { include: 'settlements' } })

    const { pending_minor: pending, available_minor: available } = body
    const { in_settlement_minor: settling, paid_out_minor: paid } = body
    const balance = total([pending, available, settling, paid].map(Number))
    const nets = rows.map(({ client_net_minor }) => client_net_minor)
    expect([step, total(nets) + openNetOf(deps)]).toStrictEqual([step, balance])
    expect([step, columnOf(text, 'client_net_minor')]).toStrictEqual([step, nets])
    seen.push(...rows.map(({ type }) => type))
  }

  expect(new Set(seen)).toStrictEqual(new Set(['payment', 'recredit', 'returned', 'refund']))
})

it('GET /v1/settlements/{id}/payments sums to each settlement: failed, re-credited, paid and returned', async () => {
  const { deps, caller, ask } = await aMerchantWithoutFloor()
  await Array.fromAsync(payoutHistory(deps, caller))
  const settlements = (await ask('listSettlements')).body['data'] as readonly SettlementDto[]

  expect(settlements.map(({ status }) => status)).toStrictEqual([
    'manual_paid',
    'manual_paid',
    'failed',
  ])
  for (const { id, gross_minor, net_minor } of settlements) {
    const rows = (await ask('listSettlementPayments', { id })).body['data'] as readonly EntryDto[]
    const { text } = await ask('listSettlementPayments', { id, headers: CSV })

    expect(total(rows.map(({ notional_minor }) => notional_minor))).toBe(gross_minor)
    expect(total(rows.map(({ client_net_minor }) => client_net_minor))).toBe(net_minor)
    expect(total(columnOf(text, 'client_net_minor'))).toBe(net_minor)
  }
})

it('an entry names the last settlement before the index does', async () => {
  const { deps, client, settlement } = await aSettledClient()
  const { header: authorization } = await issueKey(deps, client.clientId)
  const late = requestsAround(deps.requests, async (asked, send) => {
    const answer = await send()
    return 'query' in asked && 'index' in asked.query ? { ...answer, items: [] } : answer
  })
  const lateDeps = withRequests(deps, late)

  const { body } = await call(lateDeps, API.listBalanceEntries, { caller: { authorization } })

  expect(body).toMatchObject({ data: [{ settlement_id: settlement.settlementId }] })
})
