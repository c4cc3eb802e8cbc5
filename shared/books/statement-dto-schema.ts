import * as v from 'valibot'
import { amount, described, ID, id, oneOf, time, WHOLE } from '../dto-field.ts'
import { ENTRY_TYPES, type EntryType } from '../journal/entry.ts'

/** The types of lines in their order: a re-credit has none, and a payout is no entry. */
const LINE_TYPES = [
  ...ENTRY_TYPES.filter((type): type is Exclude<EntryType, 'recredit'> => type !== 'recredit'),
  'payout',
] as const

const StatementLineSchema = v.object({
  at: time('When the entry was written, or the payout was marked paid, in UTC.'),
  type: oneOf(LINE_TYPES, 'What moved the money.'),
  payment_id: v.optional(ID),
  settlement_id: v.optional(
    id('The settlement that a `payout` paid, or whose transfer came back.'),
  ),
  external_reference: v.optional(v.string()),
  amount_minor: amount('The change of what is owed to you. Of a `payout` it is negative.'),
})

export const StatementDtoSchema = v.object({
  from: day('The first day'),
  to: day('The last day'),
  opening_minor: amount('What was owed to you at the end of the day before `from`.'),
  lines: v.array(StatementLineSchema),
  closing_minor: described(
    v.nullable(WHOLE),
    'What was owed to you at the end of `to`: `opening_minor` and all lines. On earlier pages ' +
      'it is null if a day of the statement can still change.',
  ),
  final_until: time('Lines before this time never change, and no line is added before it.'),
  next: described(v.nullable(v.string()), 'The `after` of the next page. Null on the last page.'),
})

function day(text: string) {
  return described(
    v.pipe(v.string(), v.isoDate()),
    `${text}, a date in Asia/Jakarta (UTC+7). Days begin at 17:00 UTC.`,
  )
}

export type StatementDto = v.InferOutput<typeof StatementDtoSchema>
