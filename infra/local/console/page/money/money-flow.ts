import type * as v from 'valibot'
import { api, type Loaded, load } from '../gateway.ts'
import { readAllPages } from '../read-pages.ts'
import { BalanceSchema, hasNext, PaidPaymentsSchema, PER_PAGE } from '../shapes.ts'

export type PaidPayment = v.InferOutput<typeof PaidPaymentsSchema>['data'][number]
type Balance = v.InferOutput<typeof BalanceSchema>

/** Whole rupiah. */
export type MoneyFlow = {
  readonly grossMinor: number
  readonly feesMinor: number
  readonly markupMinor: number
  /** What the provider took back from the merchant, at most the net of each payment. */
  readonly givenBackMinor: number
  readonly pendingMinor: number
  readonly availableMinor: number
  readonly inSettlementMinor: number
  readonly paidOutMinor: number
  /**
   * Negative: money of the balance that no payment above explains, such as a correction by an
   * operator. Positive: money of payments that the balance does not have.
   */
  readonly otherMinor: number
}

export type MerchantMoney = {
  readonly flow: MoneyFlow
  readonly balance: Balance
  readonly payments: readonly PaidPayment[]
  readonly total: number
}

/** More payments would make each update slow. */
const MAX_PAGES = 10

/** The newest 1,000 succeeded payments with the balance. */
export async function loadMoney(): Promise<Loaded<MerchantMoney>> {
  const read = await readAllPages({
    schema: PaidPaymentsSchema,
    most: MAX_PAGES,
    callOf: (page) => api(`payments?status=succeeded&per_page=${PER_PAGE}&page=${page}`),
    hasNext,
  })
  if (!('value' in read)) return read
  const payments = read.value.pages.flatMap(({ data }) => data)
  const total = read.value.pages.at(-1)?.pagination.total ?? 0
  const balance = await load(BalanceSchema, api('balance?include=settlements'))
  if (!('value' in balance)) return balance
  const flow = flowOf(payments, balance.value)
  return { value: { flow, balance: balance.value, payments, total } }
}

function flowOf(payments: readonly PaidPayment[], balance: Balance): MoneyFlow {
  const netMinor = sumOf(payments, (payment) => payment.client_net_minor)
  const givenBackMinor = sumOf(payments, takenBack)
  return {
    grossMinor: sumOf(payments, (payment) => payment.notional_minor),
    feesMinor: sumOf(payments, (payment) => payment.xendit_fee_minor),
    markupMinor: sumOf(payments, (payment) => payment.hexolus_markup_minor),
    givenBackMinor,
    pendingMinor: balance.pending_minor,
    availableMinor: balance.available_minor,
    inSettlementMinor: balance.in_settlement_minor,
    paidOutMinor: balance.paid_out_minor,
    otherMinor: netMinor - givenBackMinor - ownedMinor(balance),
  }
}

function sumOf(payments: readonly PaidPayment[], amount: (payment: PaidPayment) => number) {
  return payments.reduce((sum, payment) => sum + amount(payment), 0)
}

/** Of a refund or chargeback that was undone, for example by a won dispute, nothing. */
function takenBack({ reversal, client_net_minor: net }: PaidPayment) {
  if (reversal === undefined || reversal.undone_at !== undefined) return 0
  return Math.min(reversal.amount_minor, Math.max(net, 0))
}

export function keptMinor(payment: PaidPayment) {
  return payment.client_net_minor - takenBack(payment)
}

export function ownedMinor(balance: Balance) {
  return (
    balance.pending_minor +
    balance.available_minor +
    balance.in_settlement_minor +
    balance.paid_out_minor
  )
}
