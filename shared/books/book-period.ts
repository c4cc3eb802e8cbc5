import * as v from 'valibot'
import { RegisteredSchema } from '../client/client-register.ts'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { BookDaySchema, bookDay } from '../journal/day-totals.ts'

/** Days of Asia/Jakarta, both included. */
export type BookPeriod = { readonly from: string; readonly to: string }

/** The cursor of a report on all clients. */
export const WALK_FIELDS = {
  period: v.pipe(
    v.strictObject({ from: BookDaySchema, to: BookDaySchema }),
    v.check(({ from, to }) => from <= to),
  ),
  position: v.optional(RegisteredSchema),
}

/** Input of a report that may need several runs. */
export const periodFields = {
  from: v.optional(BookDaySchema),
  to: v.optional(BookDaySchema),
  format: v.optional(v.picklist(['json', 'csv']), 'json'),
  cursor: v.optional(v.string()),
}
export type PeriodInput = Readonly<v.InferOutput<v.ObjectSchema<typeof periodFields, undefined>>>

/** By default the last day is today, and the first is the first of that month. */
export function bookPeriod(
  deps: Pick<Deps, 'now'>,
  input: Pick<PeriodInput, 'from' | 'to'>,
): BookPeriod {
  const today = bookDay(deps.now())
  const { to = today } = input
  const { from = `${to.slice(0, 'yyyy-mm'.length)}-01` } = input
  if (to > today)
    throw invalid('to must not be in the future', { to: [`at most ${today}, the date in Jakarta`] })
  if (from > to) throw invalid('from must not be after to', { from: [`at most ${to}`] })
  return { from, to }
}

export function isInPeriod({ from, to }: BookPeriod, day: string) {
  return from <= day && day <= to
}
