import { chunks } from '../chunks.ts'
import type { Deps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Entry } from '../journal/entry.ts'
import type { EntryPosition } from '../journal/entry-store.ts'
import { entryPages, type Span } from '../journal/read-entries.ts'
import { type Minor, plus, ZERO } from '../money.ts'
import { HISTORY_STEPS, type HistorySteps } from '../stage-settings.ts'
import { addMs, later, MINUTE_MS, SECOND_MS, type Timestamp } from '../time.ts'
import { addBlock, type EntrySums } from './entry-sums.ts'

type SumDeps = Pick<Deps, 'table' | 'stage' | 'monotonicMs' | 'sleep'>

/** How long one run sums: half of its function's five minutes. */
const RUN_MS = 2.5 * MINUTE_MS

/** The span before the fence in which entries may become visible after it was raised. */
const TAIL_MS = 5 * MINUTE_MS
const LOOK_AGAIN_MS = 5 * SECOND_MS
const MOST_LOOKS = 6

/** The progress of a window's sum: whole blocks of entries, none in the window's last minutes. */
type SumProgress = {
  readonly sums: EntrySums
  /** The last entry in the sums; undefined before the first. */
  readonly position?: EntryPosition | undefined
}

export type Summed = SumProgress & {
  /** False when the time of the run was over: the next run continues at the position. */
  readonly isWhole: boolean
}

type SummedWindow = { readonly clientId: ClientId; readonly parts: number; readonly span: Span }

/** The end of the span that is summed block by block; the rest is the tail. */
const bodyEnd = ({ start, end }: Span): Timestamp => later(start, addMs(end, -TAIL_MS))

const positionOf = (entries: readonly Entry[]): EntryPosition | undefined => entries.at(-1)

type Body = Summed & {
  /** Entries after the last whole block. */
  readonly carried: readonly Entry[]
}

const stepsOf = ({ stage }: Pick<Deps, 'stage'>): HistorySteps => stage.historySteps ?? HISTORY_STEPS

const sumBody = async (deps: SumDeps, window: SummedWindow, from: SumProgress): Promise<Body> => {
  const { clientId, parts, span } = window
  const endsAtMs = deps.monotonicMs() + RUN_MS
  let { sums, position } = from
  let carried: Entry[] = []
  const { block: size, pages } = stepsOf(deps)
  let pagesLeft = pages
  const body = { start: span.start, end: bodyEnd(span) }
  for await (const { entries, more } of entryPages(deps, { clientId, parts, span: body, after: position })) {
    carried.push(...entries)
    while (carried.length >= size) {
      const block = carried.slice(0, size)
      carried = carried.slice(size)
      sums = addBlock(sums, block, span.start)
      position = positionOf(block)
    }
    const isOver = --pagesLeft <= 0 || deps.monotonicMs() >= endsAtMs
    if (more && isOver && position !== from.position) return { sums, position, carried: [], isWhole: false }
  }
  return { sums, position, carried, isWhole: true }
}

const readTail = async (deps: SumDeps, { clientId, parts, span }: SummedWindow): Promise<readonly Entry[]> => {
  const tail = { start: bodyEnd(span), end: span.end }
  const pages = await Array.fromAsync(entryPages(deps, { clientId, parts, span: tail }))
  return pages.flatMap(({ entries }) => entries)
}

const idsOf = (entries: readonly Entry[]): string => entries.map(({ entryId }) => entryId).join(' ')

/**
 * Reads the window's last minutes until two reads find the same. A transaction becomes visible item by item, so an
 * entry may follow its shard. Throws when the tail keeps changing.
 */
const settledTail = async (deps: SumDeps, window: SummedWindow): Promise<readonly Entry[]> => {
  let last = await readTail(deps, window)
  for (let look = 1; look < MOST_LOOKS; look++) {
    const again = await readTail(deps, window)
    if (idsOf(again) === idsOf(last)) return again
    last = again
    await deps.sleep(LOOK_AGAIN_MS)
  }
  throw new Error('the entries of a closed window kept changing')
}

/**
 * Sums the entries of a closed window in one pass of consistent queries (design section 4, "Sweep and settle"). A run
 * that cannot sum the whole window stops at the end of a block. The fence must be raised before, because it makes the
 * sums final.
 */
export const sumEntries = async (deps: SumDeps, window: SummedWindow, from: SumProgress): Promise<Summed> => {
  const { span } = window
  const body = await sumBody(deps, window, from)
  if (!body.isWhole) return body
  const tail = await settledTail(deps, window)
  const entries = [...body.carried, ...tail]
  return {
    sums: chunks(entries, stepsOf(deps).block).reduce((sums, block) => addBlock(sums, block, span.start), body.sums),
    position: positionOf(entries) ?? body.position,
    isWhole: true,
  }
}

/** The net of a window that fits one page, read without a fence; undefined for a longer one. */
export const sumFirstPage = async (
  deps: SumDeps,
  { clientId, parts, span }: SummedWindow,
): Promise<Minor | undefined> => {
  let netMinor = ZERO
  for await (const { entries, more } of entryPages(deps, { clientId, parts, span })) {
    if (more) return undefined
    netMinor = entries.reduce((sum, entry) => plus(sum, entry.netMinor), netMinor)
  }
  return netMinor
}
