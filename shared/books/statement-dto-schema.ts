import * as v from 'valibot'
import { ENTRY_TYPES, type EntryType } from '../journal/entry.ts'

/** The types of lines in their order: a re-credit has none, and a payout is no entry. */
const LINE_TYPES = [
  ...ENTRY_TYPES.filter((type): type is Exclude<EntryType, 'recredit'> => type !== 'recredit'),
  'payout',
] as const

const StatementLineSchema = v.object({
  at: v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.description('When the entry was written, or the payout was marked paid, in UTC.'),
  ),
  type: v.pipe(v.picklist(LINE_TYPES), v.description('What moved the money.')),
  payment_id: v.optional(v.pipe(v.string(), v.uuid())),
  settlement_id: v.optional(
    v.pipe(
      v.string(),
      v.uuid(),
      v.description('The settlement that a `payout` paid, or whose transfer came back.'),
    ),
  ),
  external_reference: v.optional(v.string()),
  amount_minor: amount('What is owed to you changes by this. Of a `payout` it is negative.'),
})

export const StatementDtoSchema = v.object({
  from: day('The first day'),
  to: day('The last day'),
  opening_minor: amount('What was owed to you at the end of the day before `from`.'),
  lines: v.array(StatementLineSchema),
  closing_minor: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer())),
    v.description(
      'What was owed to you at the end of `to`: `opening_minor` and all lines. On earlier pages ' +
        'it is null if a day of the statement can still change.',
    ),
  ),
  final_until: v.pipe(
    v.string(),
    v.isoTimestamp(),
    v.description('Lines before this time never change, and no line is added before it.'),
  ),
  next: v.pipe(
    v.nullable(v.string()),
    v.description('The `after` of the next page. Null on the last page.'),
  ),
})

function day(text: string) {
  return v.pipe(
    v.string(),
    v.isoDate(),
    v.description(`${text}, a date in Asia/Jakarta (UTC+7). Days begin at 17:00 UTC.`),
  )
}

function amount(text: string) {
  return v.pipe(v.number(), v.integer(), v.description(text))
}

export type StatementDto = v.InferOutput<typeof StatementDtoSchema>
