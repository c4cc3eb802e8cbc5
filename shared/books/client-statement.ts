import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { assertInvariant, GatewayError, invalidField } from '../errors.ts'
import { type ClientId, SettlementIdSchema } from '../ids.ts'
import { BookDaySchema } from '../journal/day-totals.ts'
import { PositionSchema } from '../journal/entry-store.ts'
import { type Minor, MinorSchema, plus } from '../money.ts'
import { CursorTime, encodeCursor, readCursor } from '../page.ts'
import { periodOf } from '../settlement/settlement.ts'
import { settlementsEnding } from '../settlement/settlement-store.ts'
import { DAY_MS, END_OF_TIME, type Timestamp } from '../time.ts'
import { type BookPeriod, bookPeriod, isInPeriod } from './book-period.ts'
import { entrySpan, type LinesPage, readLines, type StatementLine } from './statement-lines.ts'
import { isDiffering, statementTotals, type Unsound } from './statement-totals.ts'

type StatementInput = {
  readonly clientId: ClientId
  /** Days of Asia/Jakarta, by default this month so far. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly after?: string | undefined
  readonly limit: number
  /** The request's name of `after`. */
  readonly field: 'after' | 'cursor'
}

export type StatementPage = BookPeriod & {
  readonly openingMinor: Minor
  readonly lines: readonly (StatementLine & { readonly balanceMinor: Minor })[]
  readonly closingMinor: Minor | undefined
  readonly finalUntil: Timestamp
  readonly next: string | undefined
}

type StatementDeps = Pick<Deps, 'table' | 'stage' | 'now'>

/** Throws. Merchants' requests also tell the operators. */
type Refuse = (unsound: Unsound) => Promise<never>

/**
 * A page of a client's statement (design section 8). The first page reads what was owed before it
 * from the settlements' stored totals; its cursor keeps figures and balance. So all pages have one
 * opening, and closing is always opening and the shown lines: an entry that is posted between two
 * pages is on a later page or on none. Up to the last final day the lines are compared with the
 * stored totals. If they differ, `refuse` answers.
 */
export async function clientStatement(
  deps: StatementDeps,
  input: StatementInput,
  refuse: Refuse,
): Promise<StatementPage> {
  const { clientId, limit, after: cursor, field } = input
  const kept = keptFigures(input)
  const { payouts, ...figures } = kept ?? (await firstFigures(deps, input, refuse))
  const { from, to, openingMinor, finalUntil, checked, position } = figures
  const page = await readLines(deps, {
    clientId,
    to,
    position,
    limit,
    payouts: async () => payouts ?? payoutsSince(deps, clientId, figures.paidSince),
  })

  let { balanceMinor } = figures
  let checkedMinor = balanceMinor
  const lines = page.lines.map(({ line, position: { day } }) => {
    balanceMinor = plus(balanceMinor, line.amountMinor)
    if (checked && day <= checked.day) checkedMinor = balanceMinor
    return { ...line, balanceMinor }
  })
  if (checked && isPassed(checked.day, position, page) && checkedMinor !== checked.minor) {
    const { day } = checked
    const isWrong = await isDiffering(deps, { clientId, from, day })
    if (isWrong) await refuse({ clientId, day })
    if (kept && isWrong === false) readCursor(v.never(), cursor, field)
    // Entries became visible, or are too many.
    const message = `the statement up to ${day} does not add up yet; try again, or for fewer days`
    throw new GatewayError('internal_error', message)
  }
  const { next } = page
  const known = checked?.day === to ? checked.minor : undefined
  return {
    from,
    to,
    openingMinor,
    lines,
    finalUntil,
    closingMinor: next ? known : balanceMinor,
    next: next && encodeCursor({ ...figures, of: clientId, balanceMinor, position: next }),
  }
}

function isPassed(day: string, start: { readonly day: string }, { next }: LinesPage) {
  return start.day <= day && (next === undefined || next.day > day)
}

const figureFields = {
  from: BookDaySchema,
  to: BookDaySchema,
  openingMinor: MinorSchema,
  balanceMinor: MinorSchema,
  finalUntil: CursorTime,
  checked: v.optional(v.strictObject({ day: BookDaySchema, minor: MinorSchema })),
  /** The public end of the oldest settlement that was paid in the period. */
  paidSince: v.optional(CursorTime),
  position: v.strictObject({
    day: BookDaySchema,
    after: v.optional(v.strictObject({ ...PositionSchema.entries, eligibleAt: CursorTime })),
    paidAfter: v.optional(v.strictObject({ at: CursorTime, settlementId: SettlementIdSchema })),
  }),
}

/** DynamoDB refuses a place outside the span of its day. */
function keptFigures({ clientId, from, to, after, field }: StatementInput) {
  const schema = v.pipe(
    v.strictObject({ ...figureFields, of: v.literal(clientId) }),
    v.check((kept) => [kept.from, undefined].includes(from) && [kept.to, undefined].includes(to)),
    v.check((kept) => daysOf(kept) <= MAX_DAYS && isInPeriod(kept, kept.position.day)),
    v.check((kept) => isInPeriod(kept, kept.checked?.day ?? kept.from)),
    v.check(({ position: { day, after: place } }) => {
      const { start, end } = entrySpan(day, day)
      return place === undefined || (start <= place.eligibleAt && place.eligibleAt < end)
    }),
  )
  const kept = readCursor(schema, after, field)
  return kept && { ...kept, payouts: undefined }
}

async function firstFigures(
  deps: StatementDeps,
  { clientId, ...asked }: StatementInput,
  refuse: Refuse,
) {
  const period = statementPeriod(deps, asked)
  const { payouts, isSound, ...totals } = await statementTotals(deps, clientId, period)
  if (!isSound) await refuse({ clientId, day: totals.checked?.day ?? period.to })
  return {
    ...period,
    ...totals,
    payouts,
    balanceMinor: totals.openingMinor,
    paidSince: payouts.map((paid) => periodOf(paid).end).toSorted()[0],
    position: { day: period.from },
  }
}

const MAX_DAYS = 100

/** Throws 422 for more than a hundred days, and for future days. */
function statementPeriod(deps: Pick<Deps, 'now'>, asked: Pick<StatementInput, 'from' | 'to'>) {
  const { from, to } = bookPeriod(deps, asked)
  const days = daysOf({ from, to })
  if (days > MAX_DAYS) {
    const reason = `at most ${MAX_DAYS} days; from ${from} to ${to} are ${days}`
    throw invalidField('to', reason, 'Ask for the later days by themselves.')
  }
  return { from, to }
}

function daysOf({ from, to }: BookPeriod) {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
}

/** None was paid in the period when the first page was read. */
async function payoutsSince(deps: StatementDeps, clientId: ClientId, since: Timestamp | undefined) {
  if (since === undefined) return []
  const span = [since, END_OF_TIME] as const
  const { settlements, unreadableIds } = await settlementsEnding(deps, clientId, span)
  assertInvariant(unreadableIds.length === 0, 'a statement shows each payout')
  return settlements
}
