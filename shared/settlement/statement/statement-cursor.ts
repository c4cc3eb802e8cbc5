import * as v from 'valibot'
import { invalid } from '../../errors.ts'
import { PaymentIdSchema, SettlementIdSchema } from '../../ids.ts'
import { CURSOR_JSON, encodeCursor } from '../../page.ts'
import { TimestampSchema } from '../../time.ts'
import type { PaidPosition } from '../paid-payments.ts'
import type { Settlement } from '../settlement.ts'
import { type Sums, SumsSchema } from '../sums.ts'

/**
 * Where a page ended, and of which settlement: a cursor leads into no other one's payments. That of the operators'
 * statement carries the sums so far.
 */
const CursorSchema = v.pipe(
  CURSOR_JSON,
  v.strictObject({
    settlement_id: SettlementIdSchema,
    paid_at: TimestampSchema,
    payment_id: PaymentIdSchema,
    sums: v.optional(SumsSchema),
  }),
)

type StatementPosition = PaidPosition & { readonly sums?: Sums | undefined }
export type SummedPosition = PaidPosition & { readonly sums: Sums }

export const statementCursor = ({ settlementId }: Settlement, { paidAt, id, sums }: StatementPosition): string =>
  encodeCursor({ settlement_id: settlementId, paid_at: paidAt, payment_id: id, sums })

const notOfStatement = (field: 'cursor' | 'after') => {
  const reason = 'must be the cursor of an earlier page of this statement'
  return invalid(`${field}: ${reason}`, { [field]: [reason] }, 'Leave it out to begin with the first page.')
}

/** DynamoDB refuses a start outside the queried span with an error of its own, so the position is checked too. */
export const positionIn = (settlement: Settlement, text: string, field: 'cursor' | 'after'): StatementPosition => {
  const parsed = v.safeParse(CursorSchema, text)
  const position = parsed.success ? parsed.output : undefined
  const isOwn =
    position?.settlement_id === settlement.settlementId &&
    settlement.periodStart <= position.paid_at &&
    position.paid_at < settlement.periodEnd
  if (position === undefined || !isOwn) throw notOfStatement(field)
  return { paidAt: position.paid_at, id: position.payment_id, sums: position.sums }
}

/** The same in the operators' statement, whose last page the sums prove. */
export const summedPositionIn = (settlement: Settlement, text: string): SummedPosition => {
  const { sums, ...position } = positionIn(settlement, text, 'cursor')
  if (sums === undefined) throw notOfStatement('cursor')
  return { ...position, sums }
}
