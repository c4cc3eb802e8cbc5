import * as v from 'valibot'
import { payoutFile } from '../../shared/payout/payout-file.ts'
import { PAYOUT_FORMATS } from '../../shared/payout/payout-formats.ts'
import { adminHandler, NOTES, OPERATOR } from '../../shared/runtime/admin-handler.ts'

const NUMBER = v.pipe(v.number(), v.safeInteger(), v.minValue(1, 'must be at least 1'))

const input = v.pipe(
  v.strictObject({
    operator: OPERATOR,
    format: v.optional(v.picklist(PAYOUT_FORMATS), 'xlsx'),
    batch: v.optional(NUMBER),
    cancel: v.optional(NUMBER),
    notes: v.optional(NOTES),
    cursor: v.optional(v.string()),
  }),
  v.check(
    ({ batch, cancel, cursor }) =>
      [batch, cancel, cursor].filter((field) => field !== undefined).length < 2,
    'give one of batch, cancel and cursor',
  ),
)

export const handler = adminHandler(
  {
    summary:
      'Makes the next batch of payouts and its file for the bank. Each recorded settlement that ' +
      'passes the payout gate is in it, and its approval is used up; the others are listed with ' +
      'reason and command. With batch: the file of that batch again. With cancel: frees the ' +
      'settlements of a batch whose file no bank was given; it needs an approval.',
    input,
  },
  payoutFile,
)
