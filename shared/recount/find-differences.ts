import { isDeepStrictEqual } from 'node:util'
import { figureParts, historyParts } from '../audit/client-parts.ts'
import type { Part } from '../audit/due-parts.ts'
import { type Extent, judgeRange } from '../audit/judge-parts.ts'
import { readingInto } from '../audit/judged/audit-entries.ts'
import { readableLedger, readClientBooks } from '../audit/judged/client-books.ts'
import type { Client } from '../client/client.ts'
import { entryPages } from '../journal/read-entries.ts'
import { findAnyHead } from '../operator/audit-record-store.ts'
import { dayNumber, END_OF_TIME, MINUTE_MS, timeLimit } from '../time.ts'
import { unacceptedDifferences, withSince } from '../verdict/acceptances.ts'
import {
  type Difference,
  distinct,
  isIdentical,
  MAX_DIFFERENCES,
  mayBePaid,
  withoutClient,
} from '../verdict/difference.ts'
import { type ByPart, readVerdict } from '../verdict/verdict-store.ts'
import type { Findings, Left, RecountDeps } from './plan.ts'

/** The differences of a new audit that finance has not accepted. */
export async function findDifferences(deps: RecountDeps, client: Client, asked: Parts) {
  const { clientId } = client
  const before = await windowAndChain(deps, clientId)
  const verdict = await readVerdict(deps, clientId)
  const figures = await judgeRange(await figureParts(deps, client))
  const parts = await historyParts(
    deps,
    client,
    { ...verdict, historyDay: undefined },
    dayNumber(deps.now()),
  )
  const history = await readParts(deps, parts, asked)
  const { unread } = history
  const byPart = new Map([...figures.byPart, ...history.byPart])
  const dated = withSince(distinct([...byPart.values()].flat()), verdict.standing, deps.now())
  const open = await unacceptedDifferences(deps, clientId, dated)
  const differences = open.map(withoutClient)
  const books = await readClientBooks(deps, client)
  const ids = new Set(differences.flatMap(({ what, id }) => (what.startsWith('entry') ? id : [])))
  const pages = ids.size > 0 ? entryPages(deps, { ...books.unsettled, ...readingInto([]) }) : []
  const strays = await Array.fromAsync(pages, ({ entries }) =>
    entries.filter(({ entryId }) => ids.has(entryId)),
  )
  return {
    books,
    differences,
    byPart,
    strayEntries: strays.flat(),
    unread,
    /** The audit has read the whole history. */
    isWhole: asked.from === undefined && unread.next === undefined,
    /** A settlement, a payout or another recount may have changed the figures since the audit. */
    hasMoved: !isDeepStrictEqual(before, await windowAndChain(deps, clientId)),
  }
}

async function windowAndChain(deps: RecountDeps, clientId: Client['clientId']) {
  return [(await readableLedger(deps, clientId))?.window, await findAnyHead(deps, clientId)]
}

/** Differences that payouts wait for, under the parts of the books in which they were found. */
export function inTheirParts(byPart: ByPart, differences: readonly Difference[]) {
  const isLeft = (one: Difference) =>
    !mayBePaid(one) && differences.some((other) => isIdentical(one, other))
  const parts = [...byPart].map(([part, found]) => [part, found.filter(isLeft)] as const)
  return new Map(parts.filter(([, own]) => own.length > 0))
}

/**
 * The function has fifteen minutes. After the first time its audit begins no further part, after
 * the last time it ends the part that it reads. A call that writes a plan may take a little longer
 * to read the same parts.
 */
const AUDIT_MS = 5 * MINUTE_MS
const AUDIT_AGAIN_MS = 7 * MINUTE_MS
const LATE_MS = 9 * MINUTE_MS

/** Some parts of the history, newest first: `from` and `until` are `next` of answers. */
export type Parts = Pick<Extent, 'from' | 'until'>

const LONG = 'one call has no time to read all of it'

export type Unread = {
  readonly left: readonly Left[]
  /** The part with which another call goes on. */
  readonly next: string | undefined
}

/** Judges as many parts as a call has time for, and names what it has not read. */
export async function readParts(deps: RecountDeps, parts: readonly Part[], asked: Parts) {
  const isOver = timeLimit(deps, asked.until === undefined ? AUDIT_MS : AUDIT_AGAIN_MS)
  const isLate = timeLimit(deps, LATE_MS)
  const { byPart, next, unread } = await judgeRange(parts, { ...asked, isOver, isLate })
  const left: Left[] = unread === undefined ? [] : [{ id: unread, why: LONG, ends: [] }]
  for (const [id, found] of byPart) {
    const why = `it has more differences; write this plan, then call with from "${id}"`
    if (found.length >= MAX_DIFFERENCES) left.push({ id, why, ends: [] })
  }
  return { byPart, unread: { left, next } }
}

/**
 * Names the source of lost entries if the journal has one of them at another time: then a time of
 * the source was altered, and the entry would count twice. A long journal may take too long.
 */
export async function elsewhere(
  deps: RecountDeps,
  { isOver }: Pick<Findings, 'isOver'>,
  id: string,
  { clientId, createdAt: start }: Pick<Client, 'clientId' | 'createdAt'>,
  ids: readonly string[],
): Promise<readonly Left[]> {
  if (ids.length === 0) return []
  const range = { clientId, span: { start, end: END_OF_TIME }, ...readingInto([]) }
  for await (const { entries, more } of entryPages(deps, range)) {
    const isFound = entries.some(({ entryId }) => ids.includes(entryId))
    if (isFound || (more && isOver())) return [{ id, why: isFound ? ELSEWHERE : LONG, ends: [] }]
  }
  return []
}

const ELSEWHERE = 'its entry is in the journal at another time, so its own time was altered'
