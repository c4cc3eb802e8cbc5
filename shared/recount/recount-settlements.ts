import { digestBefore, isAboutSums } from '../audit/judged/audit-settlement.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { chunks } from '../chunks.ts'
import { type Entry, netsOf } from '../journal/entry.ts'
import { putEntry } from '../journal/entry-store.ts'
import { entryPages } from '../journal/read-entries.ts'
import { recreditWindow } from '../ledger/window-store.ts'
import { ZERO } from '../money.ts'
import { recreditOfEntry } from '../settlement/close-settlement.ts'
import { isLeftOut, type Settlement } from '../settlement/settlement.ts'
import { noteLeftOutEntries } from '../settlement/settlement-store.ts'
import { sweptSpan } from '../settlement/statement/settlement-entries.ts'
import { addBlock, emptySums } from '../settlement/sum-entries.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { later } from '../time.ts'
import type { Difference } from '../verdict/difference.ts'
import { putSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import type { RecountDeps, Repair } from './repair.ts'

/** Without a verdict a settlement is never paid out. */
export function repairVerdict(
  deps: RecountDeps,
  { settlementId, clientId }: Settlement,
  differences: readonly Difference[],
): readonly Repair[] {
  const targets = differences.filter(
    ({ what, id }) => what === 'settlement.verdict' && id === settlementId,
  )
  const verdict = putSettlementVerdict({ settlementId, clientId, createdAt: deps.now() })
  return targets.length === 0
    ? []
    : [{ subject: settlementId, targets, steps: () => ({ verdict }) }]
}

/**
 * Repairs an entry outside its settlement: an entry `recredit` with its figures goes into the next
 * settlement (design section 4). The settlement notes the entry, so the repair happens once. The
 * entry's own transaction has changed the shard.
 */
export async function recreditLeftOut(
  deps: RecountDeps,
  books: ClientBooks,
  settlement: Settlement,
  differences: readonly Difference[],
): Promise<readonly (Repair & { readonly entries: readonly Entry[] })[]> {
  const { clientId, settlementId } = settlement
  const { ledger } = books
  const targets = differences.filter(
    (difference) => isAboutSums(difference) && difference.id === settlementId,
  )
  const entries =
    targets.length === 0 || ledger === undefined
      ? []
      : await findOutsideEntries(deps, books, settlement)
  if (entries.length === 0 || ledger === undefined) return []
  const steps = () => {
    const recreditedAt = later(deps.now(), ledger.window.closedUntil)
    const recredits = entries.map((entry) => recreditOfEntry(settlement, entry, recreditedAt))
    const leftOut = entries.map(({ entryId, type, netMinor }) => ({
      entryId,
      type,
      netMinor,
      recreditedAt,
    }))
    return {
      settlement: noteLeftOutEntries(settlement, leftOut),
      window: recreditWindow(clientId, netsOf(entries), recreditedAt, ZERO),
      ...Object.fromEntries(recredits.map((entry) => [entry.entryId, putEntry(clientId, entry)])),
    }
  }
  return [{ subject: settlementId, targets, steps, entries }]
}

/** An operator must check a window with more entries. */
const MAX_ENTRIES = 20_000
/** Only the latest entries of a window can become visible late. */
const LATEST = 10
const MAX_OUTSIDE = 3

/** Entries became visible after the sum if the window without them has the settlement's digest. */
async function findOutsideEntries(
  deps: RecountDeps,
  books: ClientBooks,
  settlement: Settlement,
): Promise<readonly Entry[]> {
  const { clientId } = books
  const isKnown = isLeftOut(settlement)
  const entries: Entry[] = []
  for await (const page of entryPages(deps, { clientId, span: sweptSpan(settlement) })) {
    entries.push(...page.entries.filter((entry) => !isKnown(entry)))
    if (entries.length > MAX_ENTRIES) return []
  }
  const count = entries.length - settlement.entryCount
  if (count < 1 || count > MAX_OUTSIDE) return []
  const digestOf = (counted: readonly Entry[]) =>
    chunks(counted, (deps.stage.historySteps ?? HISTORY_STEPS).block).reduce(
      (sums, block) => addBlock(sums, block, settlement.sweptFrom),
      emptySums(digestBefore(books, settlement)),
    ).digest
  const latest = entries
    .filter(({ type }) => type !== 'recredit')
    .toSorted((a, b) => (a.postedAt < b.postedAt ? 1 : -1))
    .slice(0, LATEST)
  const isOutside = (chosen: readonly Entry[]) =>
    digestOf(entries.filter((entry) => !chosen.includes(entry))) === settlement.digest
  return choices(latest, count).find(isOutside) ?? []
}

function choices(entries: readonly Entry[], count: number): readonly (readonly Entry[])[] {
  if (count === 0) return [[]]
  return entries.flatMap((entry, at) =>
    choices(entries.slice(at + 1), count - 1).map((others) => [entry, ...others]),
  )
}
