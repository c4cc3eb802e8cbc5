import { auditCounts, auditFigures, changeTimes } from '../audit/judged/audit-figures.ts'
import { type ClientBooks, readClientBooks } from '../audit/judged/client-books.ts'
import type { Client } from '../client/client.ts'
import {
  correctShards,
  correctWindow,
  type ShardFigure,
  WINDOW_CHAIN,
  WINDOW_SUMS,
} from '../ledger/correct-store.ts'
import { COUNT_FIELD } from '../ledger/shard-store.ts'
import { minor } from '../money.ts'
import { attributeName } from '../table/attributes.ts'
import { confirmedDifferences, type Difference } from '../verdict/difference.ts'
import type { Taken } from './correct-settlement.ts'
import type { RecountDeps, Repair } from './repair.ts'

export function isCount({ what }: Difference): boolean {
  return what.startsWith('ledger.count_')
}

const SHARD_FIGURES = fieldsByName<ShardFigure>('ledger', [
  'creditedMinor',
  ...Object.values(COUNT_FIELD),
])
const SUM_FIELDS = fieldsByName('window', WINDOW_SUMS)
const CHAIN_FIELDS = fieldsByName('window', WINDOW_CHAIN)

/** The audit's sum replaces a kept figure. */
export function isFigure({ what }: Difference): boolean {
  return [SHARD_FIGURES, SUM_FIELDS, CHAIN_FIELDS].some((fields) => fields.has(what))
}

/** The fields of an item, by the names that differences give them. */
function fieldsByName<Field extends string>(item: string, fields: readonly Field[]) {
  return new Map(fields.map((field) => [`${item}.${attributeName(field)}`, field]))
}

/** Judges the kept figures again, as an audit does. */
export async function judgeFigures(
  deps: RecountDeps,
  client: Client,
  expected: readonly Difference[],
) {
  let books = await readClientBooks(deps, client)
  const figures = confirmedDifferences(deps, async (isAgain) => {
    books = await readClientBooks(deps, client)
    return auditFigures(deps, books, isAgain)
  })
  const counts = expected.some(isCount) ? auditCounts(deps, client.clientId) : []
  const differences = (await Promise.all([figures, counts])).flat()
  return { books, differences }
}

const WRITTEN_OFF = 'window.written_off_minor'

/** The written-off sum decides how much a won dispute pays back. */
export function repairedBooks(books: ClientBooks, differences: readonly Difference[]): ClientBooks {
  const writtenOff = differences.find(({ what }) => what === WRITTEN_OFF)
  if (writtenOff === undefined || books.ledger === undefined) return books
  const window = { ...books.ledger.window, writtenOffMinor: minor(Number(writtenOff.expected)) }
  return { ...books, ledger: { ...books.ledger, window } }
}

/** The figure is right once the settlements' sums are corrected. */
export function isCausedBy(taken: readonly Taken[]) {
  return (difference: Difference): boolean =>
    taken.length > 0 && isFigure(difference) && gapOf(withTaken(taken)(difference)) === 0
}

function gapOf({ expected, found }: Difference): number {
  return Number(expected) - Number(found)
}

function withTaken(taken: readonly Taken[]) {
  return (difference: Difference): Difference => {
    const figure = TAKEN_FIGURES[difference.what]
    if (figure === undefined) return difference
    const moved = taken.reduce((sum, change) => sum + change[figure], 0)
    return { ...difference, expected: Number(difference.expected) + moved }
  }
}

const TAKEN_FIGURES: Readonly<Record<string, keyof Taken>> = {
  'ledger.credited_minor': 'netMinor',
  [WRITTEN_OFF]: 'writtenOffMinor',
}

/**
 * Writes the figures that the audit expects, in one transaction. Refused if a figure no longer has
 * its found value. A payment that is completed later changes its own shard, so no figure is counted
 * twice.
 */
export function repairFigures(
  deps: RecountDeps,
  books: ClientBooks,
  differences: readonly Difference[],
  taken: readonly Taken[],
): readonly Repair[] {
  const { clientId, ledger } = books
  const first = ledger?.shards.find(({ number }) => number === 0)
  // The window's last settlement is missing after a restore: the window goes back to the previous
  // settlement.
  const isLost = ({ what, id, found }: Difference) =>
    what === 'settlement' && id === ledger?.window.lastSettlementId && found === 'missing'
  const targets = differences.filter(
    (difference) => (isFigure(difference) && !isCausedBy(taken)(difference)) || isLost(difference),
  )
  if (!targets.some(isFigure) || ledger === undefined || first === undefined) return []
  const corrections = targets.map(withTaken(taken))
  const gaps = new Map<ShardFigure, number>()
  for (const correction of corrections) {
    const figure = SHARD_FIGURES.get(correction.what)
    if (figure) gaps.set(figure, gapOf(correction))
  }
  const isOfWindow = targets.some(({ what }) => !SHARD_FIGURES.has(what))
  const steps = () => ({
    shard: gaps.size === 0 ? undefined : correctShards(clientId, first, { gaps, at: deps.now() }),
    window: isOfWindow
      ? correctWindow(clientId, ledger.window, correctedWindow(books, corrections))
      : undefined,
  })
  return [{ subject: clientId, targets, steps }]
}

/**
 * The expected sums with the time of their last change, and the chain that the settlements show.
 */
function correctedWindow(
  { settlements, unsettled }: ClientBooks,
  differences: readonly Difference[],
) {
  return {
    ...Object.fromEntries(
      differences
        .filter(({ what }) => SUM_FIELDS.has(what))
        .map(({ what, expected }) => [String(SUM_FIELDS.get(what)), minor(Number(expected))]),
    ),
    ...(differences.some(({ what }) => CHAIN_FIELDS.has(what)) && {
      settledUntil: unsettled.span.start,
      lastSettlementId: settlements.at(-1)?.settlement.settlementId,
    }),
    changedAt: changeTimes(settlements).toSorted().at(-1),
  }
}
