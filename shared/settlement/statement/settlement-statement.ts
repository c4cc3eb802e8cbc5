import { GatewayError } from '../../errors.ts'
import { sumsOf } from '../paid-payments.ts'
import { providerFunding } from '../provider-funding.ts'
import { type Settlement } from '../settlement.ts'
import { toSettlementDto } from '../settlement-dto.ts'
import { findAnySettlement } from '../settlement-store.ts'
import { addSums, NO_SUMS, type Sums } from '../sums.ts'
import { type SummedPosition, statementCursor, summedPositionIn } from './statement-cursor.ts'
import { toCsv, toStatementLineDto } from './statement-line-dto.ts'
import { type StatementDeps, statementPage } from './statement-page.ts'

/** Payments of one page: a Lambda's answer has room for many more. */
const PAGE = 500

const SUM_FIELDS = ['grossMinor', 'providerFeesMinor', 'markupMinor', 'netMinor', 'paymentCount'] as const

/** A statement must say what its settlement says, or its last page is not given out. */
const assertProven = (settlement: Settlement, sums: Sums): void => {
  const wrong = SUM_FIELDS.filter((field) => sums[field] !== settlement[field])
  if (wrong.length === 0) return
  throw new GatewayError('internal_error', `the payments do not add up to this settlement: ${wrong.join(', ')}`, {
    actionHint: 'Do not pay it out. Run audit-ledger for the client.',
  })
}

/** Of a larger settlement, what was reached so far is shown as paid; the next look goes on behind it. */
const PAGES_LOOKED_AT = 5

/** A page with the sums up to its end: the last one must prove them. */
const provenPage = async (deps: StatementDeps, settlement: Settlement, after: SummedPosition | undefined) => {
  const { payments, next } = await statementPage(deps, settlement, { limit: PAGE, after })
  const sums = payments.reduce((sum, payment) => addSums(sum, sumsOf(payment)), after?.sums ?? NO_SUMS)
  if (next === undefined) assertProven(settlement, sums)
  return { payments, next: next && { ...next, sums } }
}

/**
 * The payments behind a settlement, in pages (design section 7), without those that went back before it. A page costs its
 * own payments and no others; the last one is given out only if all of them add up to the settlement. The first says how
 * much of it the provider has settled to us already.
 */
export const settlementStatement = async (
  deps: StatementDeps,
  input: { readonly settlementId: string; readonly cursor: string | undefined; readonly format: 'json' | 'csv' },
) => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  const after = input.cursor === undefined ? undefined : summedPositionIn(settlement, input.cursor)
  const { payments, next } = await provenPage(deps, settlement, after)
  const funding = after === undefined ? await providerFunding(deps, settlement, PAGES_LOOKED_AT) : undefined
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
      // Only while there are more payments than one look takes: then the first figure is at least, the second at most.
      ...(!funding.isWhole && { provider_settled_is_partial: true }),
    }),
    ...(input.format === 'csv'
      ? { csv: toCsv(payments, after === undefined) }
      : { payments: payments.map(toStatementLineDto) }),
    cursor: next ? statementCursor(settlement, next) : null,
  }
}
