import { figureParts, historyParts } from '../audit/history.ts'
import { readClientBooks } from '../audit/judged/client-books.ts'
import type { Client } from '../client/client.ts'
import type { Entry } from '../journal/entry.ts'
import { entryPages } from '../journal/read-entries.ts'
import { dayNumber, MINUTE_MS } from '../time.ts'
import { unacceptedDifferences, withSince } from '../verdict/acceptances.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import { type Difference, distinct, MAX_DIFFERENCES, withoutClient } from '../verdict/difference.ts'
import type { Findings, Left, Plan, RecountDeps } from './plan.ts'

/** The function has fifteen minutes. After this time its audit begins no part and no page. */
const AUDIT_MS = 6 * MINUTE_MS
/** The differences of a new audit that finance has not accepted. */
export async function findDifferences(
  deps: RecountDeps,
  client: Client,
): Promise<Findings & { readonly unjudged: Plan }> {
  const { clientId } = client
  const verdict = await readClientVerdict(deps, clientId)
  const everything = { ...verdict, historyDay: undefined, longSettlements: {} }
  const endsAtMs = deps.monotonicMs() + AUDIT_MS
  const isOver = () => deps.monotonicMs() >= endsAtMs
  const found: Difference[] = []
  const unjudged: Left[] = []
  const parts = [
    ...(await figureParts(deps, client)),
    ...(await historyParts(deps, client, everything, dayNumber(deps.now()))),
  ]
  for (const { key, judge } of parts) {
    const judged = isOver() ? undefined : await judge(undefined, isOver)
    found.push(...(judged?.differences ?? []))
    const isFull = (judged?.differences.length ?? 0) >= MAX_DIFFERENCES
    if (judged === undefined || judged.state !== undefined || isFull)
      unjudged.push({
        id: key,
        why: 'this run has not read all of it; run it again',
        differences: [],
      })
  }
  const dated = withSince(distinct(found), verdict.standing, deps.now())
  const open = await unacceptedDifferences(deps, clientId, dated)
  const differences = open.map(withoutClient)
  const books = await readClientBooks(deps, client)
  const hasStrays = differences.some(({ what }) => what.startsWith('entry'))
  return {
    books,
    differences,
    strayEntries: hasStrays ? await strayEntriesOf(deps, books, differences) : [],
    unjudged: { writes: [], left: unjudged },
  }
}

async function strayEntriesOf(
  deps: RecountDeps,
  books: Findings['books'],
  differences: readonly Difference[],
): Promise<readonly Entry[]> {
  const ids = new Set<string>(differences.map(({ id }) => id))
  const strays: Entry[] = []
  for await (const { entries } of entryPages(deps, books.unsettled))
    strays.push(...entries.filter(({ entryId }) => ids.has(entryId)))
  return strays
}
