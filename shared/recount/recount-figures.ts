import { bookPart, lagOfCounts, lagOfCredits } from '../audit/audit-parts.ts'
import { auditCounts, auditFigures, changeTimes } from '../audit/judged/audit-figures.ts'
import { type ClientBooks, readClientBooks } from '../audit/judged/client-books.ts'
import { GatewayError } from '../errors.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { correctShards, correctWindow, type ShardFigure, type WindowFigures } from '../ledger/correct-store.ts'
import { COUNT_FIELD } from '../ledger/shard-store.ts'
import { minor } from '../money.ts'
import { attributeName } from '../table/attributes.ts'
import { believed, type Difference } from '../verdict/difference.ts'
import { type RecountBy, type RecountDeps, type Repair, repairOf } from './repair.ts'

/** A client's kept figures and their differences, found twice and unchanged during the read. */
type JudgedFigures = { readonly books: ClientBooks; readonly differences: readonly Difference[] }

const SHARD_FIGURES = new Map<string, ShardFigure>(
  (['creditedMinor', ...Object.values(COUNT_FIELD)] as const).map((field) => [`ledger.${attributeName(field)}`, field]),
)
const WINDOW_FIGURES = new Map<string, keyof WindowFigures>(
  (['availableMinor', 'inSettlementMinor', 'paidOutMinor', 'writtenOffMinor'] as const).map((field) => [
    `window.${attributeName(field)}`,
    field,
  ]),
)

const CREDITED = 'ledger.credited_minor'
const WRITTEN_OFF = 'window.written_off_minor'
const CHAIN = ['window.settled_until', 'window.last_settlement_id', 'window.changed_at']

export const isCount = ({ what }: Difference): boolean => what.startsWith('ledger.count_')

/** Whether a difference concerns a kept figure, which the audit's sum replaces. */
export const isFigure = ({ what }: Difference): boolean =>
  SHARD_FIGURES.has(what) || CHAIN.includes(what) || WINDOW_FIGURES.has(what)

/** Judges the kept figures again, as an audit does. Throws 409 while they keep changing. */
export const judgeFigures = async (
  deps: RecountDeps,
  { client }: RecountBy,
  { withCounts }: { readonly withCounts: boolean },
): Promise<JudgedFigures> => {
  const first = await readClientBooks(deps, client)
  let books = first
  const judge = async (read: ClientBooks) => {
    books = read
    return [...(await auditFigures(deps, read)), ...(withCounts ? await auditCounts(deps, read) : [])]
  }
  const lag = withCounts ? lagOfCounts : lagOfCredits
  const part = bookPart(deps, first, 'figures', { judge, lag })
  const { differences, isInconclusive } = await believed(deps, part.judge)
  if (isInconclusive) {
    throw new GatewayError('conflict', 'the books of this client changed while they were counted; try again')
  }
  return { books, differences }
}

/** The books with the repaired written-off sum, which decides how much a won dispute pays back. */
export const repairedBooks = ({ books, differences }: JudgedFigures): ClientBooks => {
  const writtenOff = differences.find(({ what }) => what === WRITTEN_OFF)
  if (writtenOff === undefined || books.ledger === undefined) return books
  const window = { ...books.ledger.window, writtenOffMinor: minor(Number(writtenOff.expected)) }
  return { ...books, ledger: { ...books.ledger, window } }
}

const gapOf = ({ expected, found }: Difference): number => Number(expected) - Number(found)

const gapsOf = (differences: readonly Difference[]): ReadonlyMap<ShardFigure, number> =>
  new Map(
    differences.flatMap((one) => {
      const field = SHARD_FIGURES.get(one.what)
      return field === undefined ? [] : [[field, gapOf(one)] as const]
    }),
  )

/** The window's chain fields, computed from the settlements. */
const chainOf = (books: ClientBooks): Partial<WindowFigures> => {
  const last = books.settlements.at(-1)?.settlement
  return {
    settledUntil: last?.sweptUntil ?? books.client.createdAt,
    lastSettlementId: last?.settlementId,
    // The last change of the window's figures, from its settlements and re-credits.
    changedAt: changeTimes(books.settlements).toSorted().at(-1),
  }
}

const windowOf = (books: ClientBooks, differences: readonly Difference[]): Partial<WindowFigures> => ({
  ...Object.fromEntries(
    differences.flatMap(({ what, expected }) => {
      const field = WINDOW_FIGURES.get(what)
      return field === undefined ? [] : [[field, minor(Number(expected))]]
    }),
  ),
  ...(differences.some(({ what }) => CHAIN.includes(what)) && chainOf(books)),
})

/** The window's last settlement is missing after a restore: the window goes back to the one before. */
const isLost =
  ({ ledger }: ClientBooks) =>
  ({ what, id, found }: Difference): boolean =>
    what === 'settlement' && id === ledger?.window.lastSettlementId && found === 'not there'

/** The difference after left-out entries are re-credited; the figures already contain them. */
const withLeftOut =
  (leftOut: readonly Entry[]) =>
  (one: Difference): Difference => {
    if (one.what !== CREDITED && one.what !== WRITTEN_OFF) return one
    const counted = one.what === CREDITED ? leftOut : leftOut.filter(({ type }) => type === 'written_off')
    return { ...one, expected: Number(one.expected) + netsOf(counted) }
  }

/** The figure becomes correct when those entries are re-credited. */
export const isOfLeftOut =
  (leftOut: readonly Entry[]) =>
  (one: Difference): boolean =>
    leftOut.length > 0 && isFigure(one) && gapOf(withLeftOut(leftOut)(one)) === 0

/**
 * Writes the figures that the audit expects, in one transaction (design section 13, "Torn rows"). Refused if a figure
 * no longer has its found value. A payment that is completed later changes its own shard, so no figure is counted
 * twice.
 */
export const repairFigures = (
  deps: RecountDeps,
  by: RecountBy,
  { books, differences }: JudgedFigures,
  leftOut: readonly Entry[],
): readonly Repair[] => {
  const first = books.ledger?.shards.find(({ number }) => number === 0)
  const of = differences.filter((one) => (isFigure(one) && !isOfLeftOut(leftOut)(one)) || isLost(books)(one))
  if (!of.some(isFigure) || books.ledger === undefined || first === undefined) return []
  const { clientId } = by.client
  const { window } = books.ledger
  const wanted = of.map(withLeftOut(leftOut))
  const gaps = gapsOf(wanted)
  const isOfWindow = of.some(({ what }) => !SHARD_FIGURES.has(what))
  const steps = () => ({
    shard: gaps.size === 0 ? undefined : correctShards(clientId, first, { gaps, at: deps.now() }),
    window: isOfWindow ? correctWindow(clientId, window, windowOf(books, wanted)) : undefined,
  })
  return [repairOf(deps, by, { subject: clientId, of, steps })]
}
