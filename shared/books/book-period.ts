import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { BookDaySchema, bookDay } from '../journal/day-totals.ts'

/** Days of Asia/Jakarta, both included. */
export type BookPeriod = { readonly from: string; readonly to: string }

/** Fields of an operator's report on such days, which one run may not finish. */
export const periodFields = {
  from: v.optional(BookDaySchema),
  to: v.optional(BookDaySchema),
  format: v.optional(v.picklist(['json', 'csv']), 'json'),
  cursor: v.optional(v.string()),
}

/** The requested period. By default the last day is today, and the first is the first of that month. */
export const bookPeriod = (
  deps: Pick<Deps, 'now'>,
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
): BookPeriod => {
  const today = bookDay(deps.now())
  const { to = today } = asked
  const { from = `${to.slice(0, 'yyyy-mm'.length)}-01` } = asked
  if (to > today) throw invalid('to must not be in the future', { to: [`at most ${today}, the date in Jakarta`] })
  if (from > to) throw invalid('from must not be after to', { from: [`at most ${to}`] })
  return { from, to }
}

export const isIn = ({ from, to }: BookPeriod, day: string): boolean => from <= day && day <= to
