import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { type ClientId, type SettlementId, slotOf } from '../ids.ts'
import { balanceOf } from '../ledger/ledger-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { addMs, DAY_MS, epochMs, later, SECOND_MS, type Timestamp, timestampOf } from '../time.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import { believed, type Difference, type Look, MAX_DIFFERENCES } from '../verdict/difference.ts'
import { auditAgain, readSettlementVerdict } from '../verdict/settlement-verdict-store.ts'
import { auditStrayEvents } from './judged/audit-event.ts'
import { auditCounts, auditFigures } from './judged/audit-figures.ts'
import { auditHouse } from './judged/audit-house.ts'
import { judgeById, judgePayments } from './judged/audit-payments.ts'
import { auditSettlement } from './judged/audit-settlement.ts'
import { auditTrails, type ClientBooks, ownedPayments, readClientBooks } from './judged/client-books.ts'

export type AuditDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'monotonicMs'>

/** A part of a client's books that is judged separately. Parts are judged in the order of their keys. */
export type Part = {
  readonly key: string
  /** `isAgain`: everything that the first look read is read again. */
  readonly judge: (isAgain: boolean) => Promise<Look>
  /** Another audit writes what stands of it; this one only reports that. */
  readonly isElsewhere?: true
}

/** All of a client's history is read in this many days, a slice each day. */
const SLICES = 30

export const dayNumber = (at: Timestamp): number => Math.floor(epochMs(at) / DAY_MS)

/** An index can lag this long when its writes are throttled. */
const LONGEST_LAG_MS = 100 * SECOND_MS

/** How long an index may lack writes that the books count. */
type Lag = (books: ClientBooks, now: Timestamp) => number

/** Counts by status change at times that the ledger does not know. */
export const lagOfCounts: Lag = () => LONGEST_LAG_MS

/** A payment is counted when it is credited, and listed as open when the index has it. */
export const lagOfCredits: Lag = ({ ledger }, now) => {
  const updatedAt = ledger && balanceOf(ledger).updatedAt
  if (updatedAt === undefined) return SECOND_MS
  const leftMs = epochMs(updatedAt) + LONGEST_LAG_MS - epochMs(now)
  return Math.min(Math.max(leftMs, SECOND_MS), LONGEST_LAG_MS)
}

type BookPart = {
  readonly judge: (books: ClientBooks) => Promise<readonly Difference[]>
  /** What must not change while the part is judged. */
  readonly stand?: (books: ClientBooks) => unknown
  readonly lag?: Lag
}

const byLedger = ({ ledger, settlements }: ClientBooks) => ({ ledger, settlements: settlements.length })

/** A part that is compared with the client's kept figures, which are read once for all parts. */
export const bookPart = (
  deps: AuditDeps,
  read: ClientBooks,
  key: string,
  { judge, stand = byLedger, lag = () => SECOND_MS }: BookPart,
): Part => ({
  key,
  judge: async (isAgain) => {
    const books = isAgain ? await readClientBooks(deps, read.client) : read
    // Writes from just before the read may not be in the indexes yet.
    if (isAgain) await deps.sleep(lag(books, deps.now()))
    const found = await judge(books)
    if (found.length === 0) return found
    const after = await readClientBooks(deps, read.client)
    return isDeepStrictEqual(stand(after), stand(books)) ? found : 'moving'
  },
})

export const storedIn = ({ settlements }: ClientBooks, settlementId: string) =>
  settlements.find(({ settlement }) => settlement.settlementId === settlementId)

export const settlementPart = (deps: AuditDeps, read: ClientBooks, settlementId: string): Part =>
  bookPart(deps, read, `settlement ${settlementId}`, {
    judge: async (books) => {
      const stored = storedIn(books, settlementId)
      // A settlement that cannot be read, or that only the window names, is a difference of the figures.
      return stored === undefined ? [] : auditSettlement(deps, books, stored)
    },
    stand: (books) => storedIn(books, settlementId)?.item,
  })

/** Whether a settlement has more entries than one run can audit. It is audited in several, by its own verdict alone. */
export const isLong = ({ stage }: Pick<AuditDeps, 'stage'>, { entryCount }: Settlement): boolean =>
  entryCount > (stage.historySteps ?? HISTORY_STEPS).atOnce

/**
 * A long settlement: what its last own audit found, and another one becomes due. Inconclusive until the first one has
 * ended.
 */
const longPart = (deps: AuditDeps, clientId: ClientId, key: string, settlementId: SettlementId): Part => ({
  key,
  isElsewhere: true,
  judge: async () => {
    const verdict = await readSettlementVerdict(deps, settlementId)
    if (verdict?.state !== 'audited') return 'moving'
    await deps.table.write(auditAgain(settlementId, deps.now()))
    const { standing } = await readClientVerdict(deps, clientId)
    return standing.filter(({ part }) => part === key).map(({ part: _part, ...difference }) => difference)
  },
})

/**
 * Payments that were created in a span. Those with differences are judged once more at once: a transaction may just have
 * become visible item by item, and a busy client always has such payments.
 */
const paymentsPart = (deps: AuditDeps, books: ClientBooks, name: string, between: readonly [string, string]): Part => ({
  key: `payments ${name}`,
  judge: async () => {
    const found: Difference[] = []
    for await (const page of ownedPayments(deps, books, between)) {
      const judged = await judgePayments(deps, books, page)
      const again = judged.flatMap(({ id, differences }) => (differences.length > 0 ? [id] : []))
      found.push(...(await judgeById(deps, books, again)).flatMap(({ differences }) => differences))
      if (found.length >= MAX_DIFFERENCES) break
    }
    return found
  },
})

/** Payments that were created on a day, and events that fired on it. */
const dayParts = (deps: AuditDeps, books: ClientBooks, day: number): readonly Part[] => {
  const start = timestampOf(day * DAY_MS)
  const name = start.slice(0, 10)
  const between = [start, timestampOf((day + 1) * DAY_MS - 1)] as const
  return [
    paymentsPart(deps, books, name, between),
    { key: `events ${name}`, judge: () => auditStrayEvents(deps, books, between) },
  ]
}

/** The due slices of history: one for each day since the last audit, all of them after thirty days. */
type DueSlices = (of: number) => boolean

/** A slice is due if its last day came after the last audit. */
export const slicesSince =
  (auditedDay: number | undefined, today: number): DueSlices =>
  (of) =>
    (today - of) % SLICES < today - (auditedDay ?? 0)

export const ALL_SLICES: DueSlices = () => true

const TRAILS = 'trails'
export const SUSPENSE = 'suspense'

/** What is in suspense of one client's payments. */
const suspensePart = (deps: AuditDeps, clientId: ClientId): Part => ({
  key: SUSPENSE,
  judge: async () => {
    const found = await auditHouse(deps)
    if (found === 'moving') return found
    return found.filter((one) => one.clientId === clientId).map(({ difference }) => difference)
  },
})

/** The parts of an audit of one client: those of every audit, the due slices of its history, and further wanted ones. */
export const partsOf = async (
  deps: AuditDeps,
  client: Client,
  isDue: DueSlices,
  wanted: ReadonlySet<string> = new Set(),
): Promise<readonly Part[]> => {
  const books = await readClientBooks(deps, client)
  const first = dayNumber(client.createdAt)
  // This clock may be behind the one that made the newest payment.
  const last = dayNumber(addMs(later(deps.now(), client.createdAt), DAY_MS))
  const isWhole = isDue(slotOf(client.clientId, SLICES))
  const parts: readonly (readonly [isDue: boolean, part: Part])[] = [
    [true, bookPart(deps, books, 'figures', { judge: (read) => auditFigures(deps, read), lag: lagOfCredits })],
    // The daily audit of the gateway reads all suspense at once.
    [isDue === ALL_SLICES, suspensePart(deps, client.clientId)],
    [true, { key: TRAILS, judge: () => auditTrails(deps, client.clientId, { full: isWhole || wanted.has(TRAILS) }) }],
    // A payment that is listed on no day of its client's life was tampered with.
    [true, paymentsPart(deps, books, 'before', ['0', timestampOf(first * DAY_MS - 1)])],
    [true, paymentsPart(deps, books, 'later', [timestampOf((last + 1) * DAY_MS), '9~'])],
    [isWhole, bookPart(deps, books, 'counts', { judge: (read) => auditCounts(deps, read), lag: lagOfCounts })],
    ...books.settlements.map(({ settlement }) => {
      const { settlementId } = settlement
      const part = settlementPart(deps, books, settlementId)
      const own = isLong(deps, settlement) ? longPart(deps, client.clientId, part.key, settlementId) : part
      return [isDue(slotOf(settlementId, SLICES)), own] as const
    }),
    ...Array.from({ length: last - first + 1 }, (_, at) => first + at).flatMap((day) =>
      dayParts(deps, books, day).map((part) => [isDue(day % SLICES), part] as const),
    ),
  ]
  return parts
    .flatMap(([isPartDue, part]) => (isPartDue || wanted.has(part.key) ? [part] : []))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

/**
 * Judges parts in their order, and begins no part and no second look after `runMs`. `stoppedAt`: the first part that is
 * left. `unclear`: parts that moved too much; they keep their differences until the next audit.
 */
export const judgeParts = async (
  deps: Pick<Deps, 'sleep' | 'monotonicMs'>,
  parts: readonly Part[],
  { runMs, maxParts = parts.length }: { readonly runMs: number; readonly maxParts?: number | undefined },
) => {
  const endsAtMs = deps.monotonicMs() + runMs
  const hasTime = () => deps.monotonicMs() < endsAtMs
  const found = new Map<string, readonly Difference[]>()
  const elsewhere = new Map<string, readonly Difference[]>()
  const unclear: string[] = []
  for (const [at, { key, judge, isElsewhere }] of parts.entries()) {
    if (at >= maxParts || (at > 0 && !hasTime())) return { found, elsewhere, stoppedAt: at, unclear }
    const one = await believed(deps, judge, hasTime)
    if (one.isInconclusive) unclear.push(key)
    else (isElsewhere ? elsewhere : found).set(key, one.differences)
  }
  return { found, elsewhere, stoppedAt: undefined, unclear }
}
