import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { readParts } from '../../ledger/ledger-store.ts'
import { deductedIn, isReinstated, type LedgerReversal, reversalsBetween } from '../../ledger/reversal-store.ts'
import { paymentKey } from '../../table/keys.ts'
import { addMs, type Timestamp } from '../../time.ts'
import { type PaidPayment, PaidPaymentSchema, type PaidPosition, paidPages } from '../paid-payments.ts'
import type { Settlement } from '../settlement.ts'
import { reversedBefore } from '../settlement-store.ts'

export type StatementDeps = Pick<Deps, 'stage' | 'table'>

/** `reinstatedAt`: where it stands, when an earlier window was settled without it and its money came again. */
export type StatedPayment = PaidPayment & { readonly reinstatedAt?: Timestamp }

export type StatementPage = {
  readonly payments: readonly StatedPayment[]
  /** Where the page ended; undefined of the last one. */
  readonly next: PaidPosition | undefined
}

const placeOf = ({ id, paidAt, reinstatedAt }: StatedPayment): PaidPosition => ({ id, paidAt: reinstatedAt ?? paidAt })

const isBefore = (a: PaidPosition, b: PaidPosition): boolean =>
  a.paidAt === b.paidAt ? a.id < b.id : a.paidAt < b.paidAt

/** The payments that these add to the window. They are few, and read as they are now. */
const reinstatedBy = async (
  deps: Pick<Deps, 'table'>,
  reversals: readonly LedgerReversal[],
): Promise<readonly StatedPayment[]> => {
  const items = await deps.table.getMany(reversals.map(({ paymentId }) => paymentKey(paymentId)))
  return reversals.flatMap(({ paidAt }, at) => {
    const item = items[at]
    return item ? [{ ...v.parse(PaidPaymentSchema, item), reinstatedAt: paidAt }] : []
  })
}

type Span = {
  readonly settlement: Settlement
  readonly parts: number
  readonly limit: number
  readonly after: PaidPosition | undefined
}

/** So many rows of the index, from however many parts, and whether there may be more. */
const rowsBehind = async (deps: StatementDeps, { settlement, parts, limit, after }: Span) => {
  const { clientId, periodStart: start, periodEnd: end } = settlement
  const rows: PaidPayment[] = []
  for await (const { payments, more } of paidPages(deps, { clientId, parts, period: { start, end }, limit, after })) {
    rows.push(...payments)
    if (rows.length >= limit) return { rows, more }
  }
  return { rows, more: false }
}

/** What was swept of so many rows: without those that had gone back, with those that came again among them. */
const sweptBehind = async (
  deps: StatementDeps,
  span: Span,
): Promise<{ readonly swept: readonly StatedPayment[]; readonly until: PaidPosition | undefined }> => {
  const { settlement, after } = span
  const { rows, more } = await rowsBehind(deps, span)
  const until = more ? rows.at(-1) : undefined
  const reversals = await reversalsBetween(deps, settlement.clientId, {
    start: after?.paidAt ?? settlement.periodStart,
    end: until ? addMs(until.paidAt, 1) : settlement.periodEnd,
  })
  const gone = deductedIn(reversals)
  const added = (await reinstatedBy(deps, reversals.filter(isReinstated)))
    .filter((payment) => after === undefined || isBefore(after, placeOf(payment)))
    .filter((payment) => until === undefined || isBefore(placeOf(payment), until))
  const swept = [...rows, ...added].filter(({ id }) => !gone.has(id))
  return {
    swept: swept.toSorted((a, b) => (isBefore(placeOf(a), placeOf(b)) ? -1 : 1)),
    until: until && placeOf(until),
  }
}

/** Beyond so many rows of which nothing is left, a page has fewer than its limit. */
const MOST_LOOKS = 10

/**
 * The payments behind a settlement, by when they were paid, without those that went back before it and with those that
 * came again: a page of any settlement costs its own payments and one more, by which it knows whether it is the last.
 */
export const statementPage = async (
  deps: StatementDeps,
  settlement: Settlement,
  { limit, after }: { readonly limit: number; readonly after: PaidPosition | undefined },
): Promise<StatementPage> => {
  const parts = await readParts(deps, settlement.clientId)
  const before = await reversedBefore(deps, settlement)
  const found: StatedPayment[] = []
  let until = after
  for (let looks = 0; looks < MOST_LOOKS && found.length <= limit; looks++) {
    const behind = await sweptBehind(deps, { settlement, parts, limit: limit + 1 - found.length, after: until })
    found.push(...behind.swept.filter(({ id }) => !before.has(id)))
    until = behind.until
    if (until === undefined) break
  }
  const payments = found.slice(0, limit)
  const ended = payments.at(-1)
  return { payments, next: ended && payments.length < found.length ? placeOf(ended) : until }
}
