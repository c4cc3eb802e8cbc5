import { createHash } from 'node:crypto'
import * as v from 'valibot'
import { chunks } from '../chunks.ts'
import type { Deps, JournalDeps } from '../deps.ts'
import { addTotals, boundedTotals, DayTotalSchema, totalsOf } from '../journal/day-totals.ts'
import {
  CLIENT_SIDES,
  type Entry,
  fieldsText,
  NO_FIGURES,
  paymentCountOf,
  settledFigures,
} from '../journal/entry.ts'
import { PositionSchema } from '../journal/entry-store.ts'
import { entryPages, type JournalRange, type Span } from '../journal/read-entries.ts'
import { atLeastZero, less, MinorSchema, plus, ZERO } from '../money.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { addMs, later, MINUTE_MS, SECOND_MS, type Timestamp, timeLimit } from '../time.ts'

export type SumDeps = Pick<Deps, 'table' | 'stage' | 'monotonicMs' | 'sleep'>

/** How long one run reads: half of its function's five minutes. */
export const RUN_MS = 2.5 * MINUTE_MS

/** The span before the fence in which entries may become visible after the fence was raised. */
const TAIL_MS = 5 * MINUTE_MS
const LOOK_AGAIN_MS = 5 * SECOND_MS
const MAX_LOOKS = 6

type SummedWindow = Pick<JournalRange, 'clientId' | 'span' | 'read' | 'reads'>

/**
 * Sums the entries of a closed window in one pass of consistent queries (design section 4, "Sweep
 * and settle"). A run that cannot sum the whole window stops at the end of a block, and the next
 * run continues at its position. A transaction becomes visible item by item, so the window's last
 * minutes are summed until two reads have the same digest. Throws when the digests keep changing.
 */
export async function sumEntries(deps: SumDeps, window: SummedWindow, progress: SumProgress) {
  const { span } = window
  const bodyWindow = { ...window, span: { ...span, end: bodyEnd(span) } }
  const isOver = runLimit(deps)
  const { isWhole, ...body } = await sumPages(
    deps,
    bodyWindow,
    { ...progress, remaining: [] },
    isOver,
  )
  if (!isWhole) return { sums: body.sums, position: body.position, isWhole }
  let lastSums = await sumTail(deps, window, body)
  for (let look = 1; look < MAX_LOOKS; look++) {
    const sums = await sumTail(deps, window, body)
    if (sums.digest === lastSums.digest) return { sums, isWhole }
    lastSums = sums
    await deps.sleep(LOOK_AGAIN_MS)
  }
  throw new Error('the entries of a closed window kept changing')
}

/** The body is summed block by block. The tail follows it. */
function bodyEnd({ start, end }: Span) {
  return later(start, addMs(end, -TAIL_MS))
}

/** Whether a run over a client's history must end, by its pages or its time. */
export function runLimit(deps: Pick<Deps, 'stage' | 'monotonicMs'>) {
  const isLate = timeLimit(deps, RUN_MS)
  let pagesLeft = (deps.stage.historySteps ?? HISTORY_STEPS).pages
  return () => --pagesLeft <= 0 || isLate()
}

/** `remaining`: the entries after the last whole block. */
type Sum = SumProgress & { readonly remaining: readonly Entry[] }

/**
 * Whole blocks go to the sums, later entries to `remaining`. `isOver` ends the run after a page
 * with a whole block. `select` answers the entries of a page that count.
 */
export async function sumPages(
  deps: JournalDeps,
  { span, start = span.start, ...journal }: SummedWindow & { readonly start?: Timestamp },
  sum: Sum,
  isOver = () => false,
  select = async (entries: readonly Entry[]) => entries,
) {
  const size = (deps.stage.historySteps ?? HISTORY_STEPS).block
  let { sums, position, remaining } = sum
  for await (const { entries, more } of entryPages(deps, {
    ...journal,
    span,
    after: sum.position,
  })) {
    const unsummed = [...remaining, ...(await select(entries))]
    const inBlocks = unsummed.slice(0, unsummed.length - (unsummed.length % size))
    sums = chunks(inBlocks, size).reduce((total, block) => addBlock(total, block, start), sums)
    position = inBlocks.at(-1) ?? position
    remaining = unsummed.slice(inBlocks.length)
    if (more && isOver() && position !== sum.position)
      return { sums, position, remaining, isWhole: false }
  }
  return { sums, position, remaining, isWhole: true }
}

export type EntrySums = v.InferOutput<typeof EntrySumsSchema>

/** Entries have the order of the journal. `start`: the window's start. */
export function addBlock(sums: EntrySums, entries: readonly Entry[], start: Timestamp): EntrySums {
  if (entries.length === 0) return sums
  const hash = createHash('sha256').update(sums.digest)
  for (const entry of entries) hash.update('\n').update(fieldsText(entry))
  const added = {
    ...sums,
    digest: hash.digest('hex'),
    totals: [...boundedTotals(addTotals(sums.totals, totalsOf(entries)))],
  }
  for (const entry of entries) {
    const figures = settledFigures(entry)
    for (const side of CLIENT_SIDES) added[side] = plus(added[side], figures[side])
    added.paymentCount += paymentCountOf(entry)
    added.recreditedMinor = plus(added.recreditedMinor, entry.carried?.netMinor ?? ZERO)
    added.unprovenMinor = plus(added.unprovenMinor, unprovenIn(entry, start))
    added.entryCount++
  }
  return added
}

/**
 * The positive nets that no settled row proves (design section 11): of payments without their own
 * row, less those whose late row is in the same window, and what re-credits carry of them.
 */
function unprovenIn(entry: Entry, start: Timestamp) {
  const { type, netMinor, carried, provenMinor = ZERO, provenEligibleAt = '' } = entry
  if (carried) return carried.unprovenMinor
  // A row that contradicts itself proves nothing.
  const hasRow = entry.providerTransactionId !== undefined && entry.otherMinor === 0
  if (type === 'payment') return hasRow ? ZERO : atLeastZero(netMinor)
  const isProven = type === 'late_row' && provenEligibleAt >= start
  return isProven ? less(ZERO, atLeastZero(provenMinor)) : ZERO
}

async function sumTail(deps: SumDeps, window: SummedWindow, body: Sum) {
  const { start, end } = window.span
  const tail = { ...window, start, span: { start: bodyEnd(window.span), end } }
  const { sums, remaining } = await sumPages(deps, tail, { ...body, position: undefined })
  return addBlock(sums, remaining, start)
}

/** Reads without a fence. Undefined for a longer window. */
export async function sumFirstPage(deps: SumDeps, window: SummedWindow) {
  const { value: page } = await entryPages(deps, window).next()
  if (page?.more) return undefined
  const entries: readonly Entry[] = page?.entries ?? []
  return entries.reduce((sum, entry) => plus(sum, settledFigures(entry).netMinor), ZERO)
}

/** The sums of a settlement's entries (spec 2.3), and the figures that the payout checks. */
export const EntrySumsSchema = v.object({
  ...v.entriesFromList(CLIENT_SIDES, MinorSchema),
  paymentCount: v.number(),
  /** The sum of the re-credits, which were available before. */
  recreditedMinor: MinorSchema,
  /** Nets that no settled row of the provider proves. */
  unprovenMinor: MinorSchema,
  entryCount: v.number(),
  digest: v.string(),
  totals: v.array(DayTotalSchema),
})

/** The sums of whole blocks of entries. `position`: of the last entry in the sums. */
export const SumProgressSchema = v.object({
  sums: EntrySumsSchema,
  position: v.optional(PositionSchema),
})
export type SumProgress = v.InferOutput<typeof SumProgressSchema>

/** The digest is made of every entry, so the totals need no comparison. */
export const SUM_FIGURES = Object.keys(EntrySumsSchema.entries).filter(isFigure)

function isFigure(name: string): name is Exclude<keyof EntrySums, 'totals'> {
  return name !== 'totals'
}

export function emptySums(digest: string): EntrySums {
  return {
    ...NO_FIGURES,
    paymentCount: 0,
    recreditedMinor: ZERO,
    unprovenMinor: ZERO,
    entryCount: 0,
    digest,
    totals: [],
  }
}
