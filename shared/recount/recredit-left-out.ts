import type { ClientBooks } from '../audit/judged/client-books.ts'
import { chunks } from '../chunks.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { entryPages, putEntry } from '../journal/entry-store.ts'
import { leftOutToWindow } from '../ledger/window-store.ts'
import { addBlock, type EntrySums, noSums } from '../settlement/entry-sums.ts'
import { leftOutRecredit } from '../settlement/left-out-recredit.ts'
import { isLeftOut, type Settlement } from '../settlement/settlement.ts'
import { noteLeftOut } from '../settlement/settlement-store.ts'
import { sweptSpan } from '../settlement/statement/settlement-entries.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { later } from '../time.ts'
import type { JudgedSettlement } from './recount-settlements.ts'
import { type RecountBy, type RecountDeps, type Repair, repairOf } from './repair.ts'

/** An operator must check a window with more entries. */
const MAX_ENTRIES = 20_000
/** Only the latest entries of a window can become visible late. */
const LATEST = 10
const MAX_OUTSIDE = 3

/** The differences that an entry outside its settlement can cause. */
const SUMS = [
  'settlement.gross_minor',
  'settlement.provider_fees_minor',
  'settlement.markup_minor',
  'settlement.net_minor',
  'settlement.payment_count',
  'settlement.recredited_minor',
  'settlement.unproven_minor',
  'settlement.entry_count',
  'settlement.digest',
  'settlement.totals',
]

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

/** All combinations of `count` entries. */
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

export type LeftOutRepair = {
  readonly repair: Repair
  readonly entries: readonly Entry[]
}

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
  const of = differences.filter(({ what }) => SUMS.includes(what))
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
