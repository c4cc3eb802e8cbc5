import * as v from 'valibot'
import { BookDaySchema } from '../../shared/journal/day-totals.ts'
import { answerPayouts } from '../../shared/payout/answer-payouts.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'
import { BANK_REFERENCE } from '../../shared/text-field.ts'

const summary =
  "Writes down the bank's answer to a payout file, line by line: paid, failed with the bank's " +
  'words, or refused and why. A refused line stops no other line, and the same file again ' +
  'changes nothing. The command reads the file.'

const NUMBER = v.pipe(v.number(), v.safeInteger())

/** The command refuses by it, so that one line stops no other line of its call. */
export const answerLine = v.strictObject({
  line: NUMBER,
  settlement_id: v.string(),
  amount_minor: NUMBER,
  bank_account_no: v.pipe(v.string(), v.maxLength(100)),
  outcome: v.picklist(['paid', 'failed']),
  bank_reference: v.optional(BANK_REFERENCE),
  value_date: v.optional(BookDaySchema),
  is_one_debit: v.optional(v.boolean()),
  reason: v.optional(NOTES),
  batch: v.optional(NUMBER),
})

const input = v.strictObject({
  operator: OPERATOR,
  lines: v.pipe(
    v.array(answerLine),
    v.minLength(1, 'must not be empty'),
    v.maxLength(100, 'at most 100 lines a call'),
  ),
})

export const handler = adminHandler({ summary, input }, (request, deps) =>
  answerPayouts(deps, request),
)
