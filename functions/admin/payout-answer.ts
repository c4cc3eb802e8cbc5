import * as v from 'valibot'
import { answerPayouts, NAMED_LINE } from '../../shared/payout/answer-payouts.ts'
import { adminHandler, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const input = v.strictObject({
  operator: OPERATOR,
  lines: v.pipe(
    v.array(v.looseObject(NAMED_LINE)),
    v.minLength(1, 'must not be empty'),
    v.maxLength(100, 'at most 100 lines a call'),
  ),
})

export const handler = adminHandler(
  {
    summary:
      "Writes down the bank's answer to a payout file, line by line: paid, failed with the " +
      "bank's words, or refused and why. A refused line stops no other line, and the same file " +
      'again changes nothing. The command reads the file.',
    input,
  },
  answerPayouts,
)
