import { settlementPart } from '../audit/audit-parts.ts'
import { isOfSums } from '../audit/judged/audit-settlement.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { chunks, mapInChunks } from '../chunks.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { putEntry } from '../journal/entry-store.ts'
import { entryPages } from '../journal/read-entries.ts'
import { leftOutToWindow } from '../ledger/window-store.ts'
import { leftOutRecredit } from '../settlement/close-settlement.ts'
import { isLeftOut, type Settlement } from '../settlement/settlement.ts'
import { noteLeftOut } from '../settlement/settlement-store.ts'
import { sweptSpan } from '../settlement/statement/settlement-entries.ts'
import { addBlock, type EntrySums, noSums } from '../settlement/sum-entries.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { later } from '../time.ts'
import { believed, type Difference } from '../verdict/difference.ts'
import { newSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import { type RecountBy, type RecountDeps, type Repair, repairOf } from './repair.ts'

type JudgedSettlement = { readonly settlement: Settlement; readonly differences: readonly Difference[] }

/** Run in parallel, because each waits ten seconds before its second look. */
const SIDE_BY_SIDE = 10

/** Judges the named settlements again, as an audit does. */
export const judgeSettlements = async (deps: RecountDeps, books: ClientBooks, expected: readonly Difference[]) => {
  const ids = new Set<string>(expected.map(({ id }) => id))
  const named = books.settlements.filter(({ settlement: { settlementId } }) => ids.has(settlementId))
  return mapInChunks(named, SIDE_BY_SIDE, async ({ settlement }) => {
    const { differences } = await believed(deps, settlementPart(deps, books, settlement.settlementId).judge)
    return { settlement, differences }
  })
}

/** Creates missing verdicts. Without a verdict a settlement is never audited, so it is never paid out. */
export const repairVerdicts = (deps: RecountDeps, by: RecountBy, judged: readonly JudgedSettlement[]) =>
  judged.flatMap(({ settlement, differences }) => {
    const of = differences.filter(({ what }) => what === 'settlement.verdict')
    if (of.length === 0) return []
    const { settlementId, clientId } = settlement
    const verdict = newSettlementVerdict({ settlementId, clientId, createdAt: deps.now() })
    return [repairOf(deps, by, { subject: settlementId, of, steps: () => ({ verdict }) })]
  })

/** An operator must check a window with more entries. */
const MAX_ENTRIES = 20_000
/** Only the latest entries of a window can become visible late. */
const LATEST = 10
const MAX_OUTSIDE = 3

const entriesIn = async (deps: RecountDeps, { clientId, parts }: ClientBooks, settlement: Settlement) => {
  const found: Entry[] = []
  for await (const { entries } of entryPages(deps, { clientId, parts, span: sweptSpan(settlement) })) {
    found.push(...entries)
    if (found.length > MAX_ENTRIES) return undefined
  }
  return found.filter((entry) => !isLeftOut(settlement)(entry))
}

const sumsOf = (deps: RecountDeps, { sweptFrom }: Settlement, before: string, entries: readonly Entry[]): EntrySums =>
  chunks(entries, (deps.stage.historySteps ?? HISTORY_STEPS).block).reduce(
    (sums, block) => addBlock(sums, block, sweptFrom),
    noSums(before),
  )

const choices = (entries: readonly Entry[], count: number): readonly (readonly Entry[])[] => {
  if (count === 0) return [[]]
  return entries.flatMap((entry, at) => choices(entries.slice(at + 1), count - 1).map((rest) => [entry, ...rest]))
}

/**
 * The entries that became visible after the settlement was summed: without them the window has the settlement's digest.
 * Undefined if there are none, or they are not among the latest.
 */
const outsideOf = (
  deps: RecountDeps,
  settlement: Settlement,
  { entries, before }: { readonly entries: readonly Entry[]; readonly before: string },
): readonly Entry[] | undefined => {
  const count = entries.length - settlement.entryCount
  if (count < 1 || count > MAX_OUTSIDE) return undefined
  const latest = entries
    .filter(({ type }) => type !== 'recredit')
    .toSorted((a, b) => (a.postedAt < b.postedAt ? 1 : -1))
  return choices(latest.slice(0, LATEST), count).find((chosen) => {
    const rest = entries.filter((entry) => !chosen.includes(entry))
    return sumsOf(deps, settlement, before, rest).digest === settlement.digest
  })
}

type LeftOutRepair = { readonly repair: Repair; readonly entries: readonly Entry[] }

/**
 * Repairs an entry outside its settlement (design section 4): an entry `recredit` with its figures goes into the next
 * settlement. The settlement records it, so it is re-credited once. No shard changes, because the entry's own
 * transaction has changed it.
 */
export const recreditLeftOut = async (
  deps: RecountDeps,
  by: RecountBy,
  { books, judged: { settlement, differences } }: { readonly books: ClientBooks; readonly judged: JudgedSettlement },
): Promise<readonly LeftOutRepair[]> => {
  const of = differences.filter(isOfSums)
  const { clientId, settlementId, previousId } = settlement
  const entries = of.length === 0 ? undefined : await entriesIn(deps, books, settlement)
  if (entries === undefined || books.ledger === undefined) return []
  const previous = books.settlements.find((one) => one.settlement.settlementId === previousId)?.settlement
  const outside = outsideOf(deps, settlement, { entries, before: previous?.digest ?? '' })
  if (outside === undefined) return []
  const { closedUntil } = books.ledger.window
  const repair = repairOf(deps, by, {
    subject: settlementId,
    of,
    steps: () => {
      const recreditedAt = later(deps.now(), closedUntil)
      const recredits = outside.map((entry) => leftOutRecredit(settlement, entry, recreditedAt))
      const noted = outside.map(({ entryId, type, ...entry }) => ({
        entryId,
        type,
        netMinor: entry.netMinor,
        recreditedAt,
      }))
      return {
        settlement: noteLeftOut(settlement, noted),
        window: leftOutToWindow(clientId, netsOf(outside), recreditedAt),
        ...Object.fromEntries(recredits.map((entry) => [entry.entryId, putEntry({ clientId }, entry)])),
      }
    },
  })
  return [{ repair, entries: outside }]
}
