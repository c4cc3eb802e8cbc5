import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { PaymentIdSchema, SettlementIdSchema } from '../ids.ts'
import { CURSOR_JSON, encodeCursor } from '../page.ts'
import { TimestampSchema } from '../time.ts'
import {
  behindPayment,
  type PaidPayment,
  type PaidPosition,
  paidPayments,
  paidPaymentsPage,
  sumsOf,
} from './paid-payments.ts'
import { addFunding, type Funding, NO_FUNDING } from './provider-funding.ts'
import { type Settlement, toSettlementDto } from './settlement.ts'
import { findAnySettlement } from './settlement-store.ts'
import { addSums, NO_SUMS, type Sums } from './sums.ts'

/** Payments of one page: a Lambda's answer has room for many more. */
const PAGE = 500

const toLine = (payment: PaidPayment) => ({
  payment_id: payment.id,
  paid_at: payment.paidAt,
  gross_minor: payment.notionalMinor,
  xendit_fee_minor: payment.providerFeeMinor,
  hexolus_markup_minor: payment.markupMinor,
  net_minor: payment.netMinor,
  fee_status: payment.feeStatus,
  provider_settled_at: payment.providerSettledAt ?? null,
})

const COLUMNS = [
  'payment_id',
  'paid_at',
  'gross_minor',
  'xendit_fee_minor',
  'hexolus_markup_minor',
  'net_minor',
  'fee_status',
  'provider_settled_at',
] as const satisfies readonly (keyof ReturnType<typeof toLine>)[]

/** Ids, numbers and times only: nothing in a line needs quoting. The header is on the first page. */
const toCsv = (payments: readonly PaidPayment[], withHeader: boolean): string => {
  const lines = payments.map((payment) => {
    const line = toLine(payment)
    return COLUMNS.map((column) => line[column] ?? '').join(',')
  })
  return [...(withHeader ? [COLUMNS.join(',')] : []), ...lines].map((line) => `${line}\n`).join('')
}

const SUM_FIELDS = ['grossMinor', 'providerFeesMinor', 'markupMinor', 'netMinor', 'paymentCount'] as const

/** Where a page ended, and of which settlement: a cursor leads into no other one's payments. */
const CursorSchema = v.pipe(
  CURSOR_JSON,
  v.strictObject({ settlement_id: SettlementIdSchema, paid_at: TimestampSchema, payment_id: PaymentIdSchema }),
)

const cursorOf = ({ settlementId }: Settlement, { paidAt, id }: PaidPosition): string =>
  encodeCursor({ settlement_id: settlementId, paid_at: paidAt, payment_id: id })

/** DynamoDB refuses a start outside the queried span with an error of its own, so the position is checked too. */
const decodeCursor = (settlement: Settlement, text: string): PaidPosition => {
  const parsed = v.safeParse(CursorSchema, text)
  const position = parsed.success ? parsed.output : undefined
  const isOwn =
    position?.settlement_id === settlement.settlementId &&
    settlement.periodStart <= position.paid_at &&
    position.paid_at < settlement.periodEnd
  if (position === undefined || !isOwn) {
    const reason = 'must be the cursor of an earlier page of this statement'
    throw invalid(`cursor: ${reason}`, { cursor: [reason] }, 'Leave the cursor out to begin with the first page.')
  }
  return { paidAt: position.paid_at, id: position.payment_id }
}

/**
 * One pass over all payments: the statement must say what the settlement says, or it is not given out; and how much of
 * it the provider has paid us.
 */
const proven = async (deps: Pick<Deps, 'table'>, settlement: Settlement): Promise<Funding> => {
  const period = { start: settlement.periodStart, end: settlement.periodEnd }
  let sums: Sums = NO_SUMS
  let funding = NO_FUNDING
  for await (const payment of paidPayments(deps, settlement.clientId, period)) {
    sums = addSums(sums, sumsOf(payment))
    funding = addFunding(funding, payment)
  }
  const wrong = SUM_FIELDS.filter((field) => sums[field] !== settlement[field])
  if (wrong.length === 0) return funding
  throw new GatewayError('internal_error', `the payments do not add up to this settlement: ${wrong.join(', ')}`, {
    actionHint: 'Do not pay it out. Run audit-ledger for the client.',
  })
}

/**
 * The payments behind a settlement, in pages (design section 7). Before the first page the sums of all payments are
 * proven equal to the settlement's; it says how much of it the provider has settled to us already. The pages behind it
 * cost their own payments only.
 */
export const settlementStatement = async (
  deps: Pick<Deps, 'table'>,
  input: { readonly settlementId: string; readonly cursor: string | undefined; readonly format: 'json' | 'csv' },
) => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  const after = input.cursor === undefined ? undefined : decodeCursor(settlement, input.cursor)
  const funding = after === undefined ? await proven(deps, settlement) : undefined
  const { payments, cursor } = await paidPaymentsPage(deps, {
    clientId: settlement.clientId,
    period: { start: settlement.periodStart, end: settlement.periodEnd },
    limit: PAGE,
    cursor: after && behindPayment(settlement.clientId, after),
  })
  const last = payments.at(-1)
  return {
    settlement: toSettlementDto(settlement),
    totals: {
      gross_minor: settlement.grossMinor,
      xendit_fees_minor: settlement.providerFeesMinor,
      hexolus_markup_minor: settlement.markupMinor,
      net_minor: settlement.netMinor,
      payment_count: settlement.paymentCount,
    },
    ...(funding && {
      provider_settled_minor: funding.fundedMinor,
      provider_unsettled_minor: funding.unfundedMinor,
    }),
    ...(input.format === 'csv' ? { csv: toCsv(payments, after === undefined) } : { payments: payments.map(toLine) }),
    cursor: cursor && last ? cursorOf(settlement, last) : null,
  }
}
