import * as v from 'valibot'
import { expect } from 'vitest'
import { handler as compareBalance } from '../../../functions/schedule/compare-balance.ts'
import type { Client } from '../../../shared/client/client.ts'
import { newHouseEntry, putHouseEntry } from '../../../shared/journal/house-store.ts'
import { payOutOfWindow } from '../../../shared/ledger/window-store.ts'
import { minor } from '../../../shared/money.ts'
import type { PaymentRequest } from '../../../shared/payment/payment.ts'
import { bookLateRow } from '../../../shared/posting/post-payments.ts'
import { markClosed } from '../../../shared/settlement/settlement-store.ts'
import { aChargeback, adjustBalance, aRefund, aWin } from '../../support/money-rows.ts'
import { invokeAdmin, lambdaContext } from '../../support/operator-actions.ts'
import { post, postAssumed, settledRowFor } from '../../support/paid-builders.ts'
import { aDayLater, sweptNow, withoutFloor } from '../../support/settlement-builders.ts'
import { creditedPayment } from '../../support/synced-payment.ts'
import { memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { move } from '../posting/worked-case.ts'

type PostedRequest = Partial<PaymentRequest> & { readonly feeMinor: number }

export async function aPosted(
  deps: TestDeps,
  client: Client,
  { feeMinor, ...request }: PostedRequest,
) {
  return post(deps, (await creditedPayment(deps, client, request)).payment, { feeMinor })
}

/** `ofA`, `ofB`: the settlements of `a` and `b`. */
export const booksTest = testWith(threeDays, 'deps', 'a', 'b', 'ofA', 'ofB')

/** The month of the three days, worked by hand. */
export const MONTH = {
  'taken_in.virtual_account': 300_000,
  'taken_in.qris': 50_000,
  fees: 4_350,
  markup: 250,
  taken_back: 150_000,
  given_back: 20_000,
  recovered: 10_000,
  written_off: 5_000,
  paid_out: 145_500,
  'at_provider.payment': 145_650,
  'at_provider.late_row': 195_000,
  'at_provider.refund': -100_000,
  'at_provider.chargeback': -55_000,
  'at_provider.dispute_won': 19_500,
  'at_provider.suspense': 29_700,
  'at_provider.withdrawal': -42_500,
  'at_bank.recovered': 10_000,
  'at_bank.withdrawal': 40_000,
  'at_bank.payout': -145_500,
  'transit.payment': 196_000,
  'transit.late_row': -196_000,
  'in_suspense.suspense': 30_000,
  'cost.late_row': -1_000,
  'cost.refund': -4_000,
  'cost.chargeback': -5_000,
  'cost.dispute_won': -500,
  'cost.written_off': -5_000,
  'cost.suspense': -300,
  'cost.withdrawal': -2_500,
  clients: 84_900,
  'closing.markup': 250,
  at_provider: 192_350,
  at_bank: -95_500,
  in_suspense: 30_000,
  cost: -18_300,
  owed_to_clients: 165_800,
  owed_by_clients: 80_900,
}

const Figure = v.object({ name: v.string(), amount_minor: v.number(), source: v.string() })
export const Body = v.object({
  from: v.string(),
  to: v.string(),
  figures: v.array(Figure),
  balanced: v.boolean(),
})

/** The daily comparison with the provider's balance. */
export function compareNow(deps: TestDeps) {
  return compareBalance.withDeps(deps)({}, lambdaContext('compare-balance'))
}

export async function booksOf(deps: TestDeps, input: Readonly<Record<string, unknown>> = {}) {
  const { figures, ...body } = v.parse(Body, (await invokeAdmin('get-books', deps, input)).body)
  const shown = figures.filter(({ amount_minor }) => amount_minor !== 0)
  return {
    ...body,
    figures: Object.fromEntries(shown.map(({ name, amount_minor }) => [name, amount_minor])),
  }
}

/** Three days of two merchants, 20 to 22 November in Jakarta. The comments work out each figure. */
async function threeDays() {
  const deps = memoryDeps()
  const a = await withoutFloor(deps)
  deps.clock.advance(1)
  const b = await withoutFloor(deps)
  // A: 95,900 net, 96,000 at the provider. And 49,600 net, 49,650 at the provider.
  const va = await aPosted(deps, a, { feeMinor: 4_000 })
  await aPosted(deps, a, {
    feeMinor: 350,
    method: 'qris',
    channelCode: undefined,
    notionalMinor: minor(50_000),
  })
  // B: 195,800 net by the estimate of 4,000, and nothing at the provider yet.
  const assumed = await postAssumed(
    deps,
    (await creditedPayment(deps, b, { notionalMinor: minor(200_000) })).payment,
  )
  // 30,000 that belong to no payment; the provider kept 300.
  const heldMoney = {
    transactionId: 'txn-held',
    providerMinor: minor(29_700),
    suspenseMinor: minor(30_000),
    costMinor: minor(-300),
  }
  await houseRow(deps, { type: 'suspense', ...heldMoney })

  deps.clock.advance(26 * 3_600)
  const ofA = await sweptNow(deps, a)
  const ofB = await sweptNow(deps, b)
  // The operator's bank transfer, written directly to the table.
  const settlement = markClosed({ ...ofA, status: 'manual_paid', settledAt: deps.now() })
  const window = payOutOfWindow(a.clientId, ofA.netMinor, deps.now())
  expect(await deps.table.transact({ settlement, window })).toStrictEqual({ applied: true })
  // The provider kept 5,000 of B's payment: 1,000 more than was assumed.
  const lateRow = settledRowFor(assumed, { feeMinor: 5_000, settledAt: deps.now() })
  expect(await bookLateRow(deps, assumed, lateRow)).toMatchObject({ applied: true })

  aDayLater(deps)
  await move(deps, va, aRefund(deps, 100_000))
  // The provider takes 5,000 for the dispute.
  await move(deps, assumed, aChargeback(deps, 50_000, 5_000))
  await move(deps, assumed, aWin(deps, 20_000))
  await adjustBalance(deps, a, 'recovered', 10_000)
  await adjustBalance(deps, a, 'written_off', 5_000)
  // The provider takes 2,500 for the transfer to our bank.
  const withdrawal = {
    transactionId: 'txn-out',
    providerMinor: minor(-42_500),
    bankMinor: minor(40_000),
    costMinor: minor(-2_500),
  }
  await houseRow(deps, { type: 'withdrawal', ...withdrawal })
  return { deps, a, b, ofA, ofB }
}

export function houseRow(
  deps: TestDeps,
  entry: Omit<Parameters<typeof newHouseEntry>[0], 'rowAt' | 'postedAt'>,
) {
  return deps.table.transact(
    putHouseEntry(newHouseEntry({ ...entry, rowAt: deps.now(), postedAt: deps.now() })),
  )
}
