import { csv } from '../settlement/statement/csv.ts'
import type { StatementPage } from './client-statement.ts'
import type { StatementDto } from './statement-dto-schema.ts'

export function toStatementDto(page: StatementPage): StatementDto {
  return {
    from: page.from,
    to: page.to,
    opening_minor: page.openingMinor,
    lines: page.lines.map(toLineDto),
    closing_minor: page.closingMinor ?? null,
    final_until: page.finalUntil,
    next: page.next ?? null,
  }
}

type PageLine = StatementPage['lines'][number]

function toLineDto(line: PageLine) {
  return {
    at: line.at,
    type: line.type,
    payment_id: line.paymentId,
    settlement_id: line.settlementId,
    external_reference: line.externalReference,
    amount_minor: line.amountMinor,
  }
}

export function toStatementReport(
  page: StatementPage,
  { format, isContinued }: { readonly format: 'json' | 'csv'; readonly isContinued: boolean },
) {
  const { lines, next, ...figures } = toStatementDto(page)
  return {
    ...figures,
    ...(format === 'csv' ? { csv: statementCsv(page, isContinued) } : { data: lines }),
    ...(next !== null && { continuing: true, cursor: next }),
  }
}

const COLUMNS = [
  'at',
  'type',
  'payment_id',
  'settlement_id',
  'external_reference',
  'amount_minor',
  'balance_minor',
] as const

/** The same lines. A file of lines alone needs the balance, which shows opening and closing. */
export function statementCsv({ lines }: StatementPage, isContinued = false) {
  const rows = lines.map((line) => ({ ...toLineDto(line), balance_minor: line.balanceMinor }))
  return csv(COLUMNS, rows, isContinued)
}
