import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { PaymentIdSchema } from '../ids.ts'
import { TimestampSchema } from '../time.ts'
import {
  behindPayment,
  type PaidPayment,
  type PaidPosition,
  paidPayments,
  paidPaymentsPage,
  sumsOf,
} from './paid-payments.ts'
import { providerFunding } from './provider-funding.ts'
import { type Settlement, toSettlementDto } from './settlement.ts'
import { findAnySettlement } from './settlement-store.ts'
import { addSums, NO_SUMS, type Sums } from './sums.ts'

type StatementDeps = Pick<Deps, 'table' | 'sleep' | 'random'>

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

/** Where a page ended. Whose payments they are is not in it: a cursor must not lead into another client's. */
const CursorSchema = v.pipe(
  v.string(),
  v.transform((text) => Buffer.from(text, 'base64url').toString('utf8')),
  v.parseJson(),
  v.strictObject({ paid_at: TimestampSchema, payment_id: PaymentIdSchema }),
)

const encodeCursor = ({ paidAt, id }: PaidPosition): string =>
  Buffer.from(JSON.stringify({ paid_at: paidAt, payment_id: id })).toString('base64url')

const decodeCursor = (text: string): PaidPosition => {
  const parsed = v.safeParse(CursorSchema, text)
  if (!parsed.success) {
    const reason = 'must be the cursor of an earlier page of this statement'
    throw invalid(`cursor: ${reason}`, { cursor: [reason] })
  }
  return { paidAt: parsed.output.paid_at, id: parsed.output.payment_id }
}

/** The statement must say what the settlement says, or it is not given out. */
const proveSums = async (deps: StatementDeps, settlement: Settlement): Promise<void> => {
  const period = { start: settlement.periodStart, end: settlement.periodEnd }
  let sums: Sums = NO_SUMS
  for await (const payment of paidPayments(deps, settlement.clientId, period)) sums = addSums(sums, sumsOf(payment))
  const wrong = SUM_FIELDS.filter((field) => sums[field] !== settlement[field])
  if (wrong.length === 0) return
  throw new GatewayError('internal_error', `the payments do not add up to this settlement: ${wrong.join(', ')}`, {
    actionHint: 'Do not pay it out. Run audit-ledger for the client.',
  })
}

/**
 * The payments behind a settlement, in pages (design section 7). Before the first page the sums of all payments are
 * proven equal to the settlement's. Says how much of it the provider has settled to us already.
 */
export const settlementStatement = async (
  deps: StatementDeps,
  input: { readonly settlementId: string; readonly cursor: string | undefined; readonly format: 'json' | 'csv' },
) => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  const after = input.cursor === undefined ? undefined : decodeCursor(input.cursor)
  if (after === undefined) await proveSums(deps, settlement)
  const { payments, cursor } = await paidPaymentsPage(deps, {
    clientId: settlement.clientId,
    period: { start: settlement.periodStart, end: settlement.periodEnd },
    limit: PAGE,
    cursor: after && behindPayment(settlement.clientId, after),
  })
  const last = payments.at(-1)
  const { fundedMinor, unfundedMinor } = await providerFunding(deps, settlement)
  return {
    settlement: toSettlementDto(settlement),
    totals: {
      gross_minor: settlement.grossMinor,
      xendit_fees_minor: settlement.providerFeesMinor,
      hexolus_markup_minor: settlement.markupMinor,
      net_minor: settlement.netMinor,
      payment_count: settlement.paymentCount,
    },
    provider_settled_minor: fundedMinor,
    provider_unsettled_minor: unfundedMinor,
    ...(input.format === 'csv' ? { csv: toCsv(payments, after === undefined) } : { payments: payments.map(toLine) }),
    cursor: cursor && last ? encodeCursor(last) : null,
  }
}
