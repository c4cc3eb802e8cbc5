import { bookPart, LONGEST_LAG_MS } from '../audit/audit-parts.ts'
import { auditCounts, auditFigures, changeTimes } from '../audit/judged/audit-figures.ts'
import { type ClientBooks, readClientBooks } from '../audit/judged/client-books.ts'
import type { Client } from '../client/client.ts'
import { GatewayError } from '../errors.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
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
import type { RecountDeps, Repair } from './repair.ts'

export function isCount({ what }: Difference): boolean {
  return what.startsWith('ledger.count_')
}

const shardFigure = fieldOf<ShardFigure>('ledger', ['creditedMinor', ...Object.values(COUNT_FIELD)])
const windowSum = fieldOf('window', WINDOW_SUMS)
const chainField = fieldOf('window', WINDOW_CHAIN)

/** Whether a difference concerns a kept figure, which the audit's sum replaces. */
export function isFigure(one: Difference): boolean {
  return (shardFigure(one) ?? windowSum(one) ?? chainField(one)) !== undefined
}

/** Tells the field of an item that a difference names; undefined for other differences. */
function fieldOf<Field extends string>(item: string, fields: readonly Field[]) {
  return ({ what }: Difference): Field | undefined =>
    fields.find((field) => what === `${item}.${attributeName(field)}`)
}

/** Judges the kept figures again, as an audit does. Throws 409 while they keep changing. */
export async function judgeFigures(
  deps: RecountDeps,
  client: Client,
  expected: readonly Difference[],
) {
  const withCounts = expected.some(isCount)
  const first = await readClientBooks(deps, client)
  let books = first
  const judge = async (read: ClientBooks) => {
    books = read
    return [
      ...(await auditFigures(deps, read)),
      ...(withCounts ? await auditCounts(deps, read) : []),
    ]
  }
  const part = bookPart(deps, first, 'figures', {
    judge,
    lagMs: withCounts ? LONGEST_LAG_MS : undefined,
  })
  const { differences, isInconclusive } = await confirmedDifferences(deps, part.judge)
  if (isInconclusive) {
    throw new GatewayError(
      'conflict',
      'the books of this client changed while they were counted; try again',
    )
  }
  return { books, differences }
}

const WRITTEN_OFF = 'window.written_off_minor'

/** The books with the repaired written-off sum, which decides how much a won dispute pays back. */
export function repairedBooks(books: ClientBooks, differences: readonly Difference[]): ClientBooks {
  const writtenOff = differences.find(({ what }) => what === WRITTEN_OFF)
  if (writtenOff === undefined || books.ledger === undefined) return books
  const window = { ...books.ledger.window, writtenOffMinor: minor(Number(writtenOff.expected)) }
  return { ...books, ledger: { ...books.ledger, window } }
}

/** The figure becomes correct when those entries are re-credited. */
export function isOfLeftOut(leftOut: readonly Entry[]) {
  return (one: Difference): boolean =>
    leftOut.length > 0 && isFigure(one) && gapOf(withLeftOut(leftOut)(one)) === 0
}

function gapOf({ expected, found }: Difference): number {
  return Number(expected) - Number(found)
}

const CREDITED = 'ledger.credited_minor'

/** The difference after left-out entries are re-credited; the figures already contain them. */
function withLeftOut(leftOut: readonly Entry[]) {
  return (one: Difference): Difference => {
    if (one.what !== CREDITED && one.what !== WRITTEN_OFF) return one
    const counted =
      one.what === CREDITED ? leftOut : leftOut.filter(({ type }) => type === 'written_off')
    return { ...one, expected: Number(one.expected) + netsOf(counted) }
  }
}

/**
 * Writes the figures that the audit expects, in one transaction. Refused if a figure no longer has its found value. A
 * payment that is completed later changes its own shard, so no figure is counted twice.
 */
export function repairFigures(
  deps: RecountDeps,
  books: ClientBooks,
  differences: readonly Difference[],
  leftOut: readonly Entry[],
): readonly Repair[] {
  const { clientId, ledger } = books
  const first = ledger?.shards.find(({ number }) => number === 0)
  // The window's last settlement is missing after a restore: the window goes back to the one before.
  const isLost = ({ what, id, found }: Difference) =>
    what === 'settlement' && id === ledger?.window.lastSettlementId && found === 'missing'
  const of = differences.filter(
    (one) => (isFigure(one) && !isOfLeftOut(leftOut)(one)) || isLost(one),
  )
  if (!of.some(isFigure) || ledger === undefined || first === undefined) return []
  const wanted = of.map(withLeftOut(leftOut))
  const gaps = new Map<ShardFigure, number>()
  for (const one of wanted) {
    const figure = shardFigure(one)
    if (figure) gaps.set(figure, gapOf(one))
  }
  const isOfWindow = of.some((one) => shardFigure(one) === undefined)
  const steps = () => ({
    shard: gaps.size === 0 ? undefined : correctShards(clientId, first, { gaps, at: deps.now() }),
    window: isOfWindow
      ? correctWindow(clientId, ledger.window, windowOf(books, wanted))
      : undefined,
  })
  return [{ subject: clientId, of, steps }]
}

/** The window's fields: its sums as expected, and its chain as its settlements and re-credits show it. */
function windowOf({ settlements, unsettled }: ClientBooks, differences: readonly Difference[]) {
  return {
    ...Object.fromEntries(
      differences
        .filter(windowSum)
        .map((one) => [String(windowSum(one)), minor(Number(one.expected))]),
    ),
    ...(differences.some(chainField) && {
      settledUntil: unsettled.span.start,
      lastSettlementId: settlements.at(-1)?.settlement.settlementId,
      changedAt: changeTimes(settlements).toSorted().at(-1),
    }),
  }
}
