import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { type ClientId, type SettlementId, slotOf } from '../ids.ts'
import { balanceOf } from '../ledger/ledger-store.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { HISTORY_STEPS } from '../stage-settings.ts'
import { addMs, DAY_MS, epochMs, later, SECOND_MS, type Timestamp, timestampOf } from '../time.ts'
import { readClientVerdict } from '../verdict/client-verdict-store.ts'
import {
  confirmedDifferences,
  type Difference,
  type JudgeResult,
  MAX_DIFFERENCES,
} from '../verdict/difference.ts'
import { readSettlementVerdict, requestAudit } from '../verdict/settlement-verdict-store.ts'
import { auditCounts, auditFigures } from './judged/audit-figures.ts'
import { auditHouse } from './judged/audit-house.ts'
import { auditRegistration } from './judged/audit-registers.ts'
import { auditSettlement, auditWitnesses } from './judged/audit-settlement.ts'
import {
  auditTrails,
  type ClientBooks,
  ownedPayments,
  readClientBooks,
} from './judged/client-books.ts'
import { auditStrayEvents } from './judged/judge-events.ts'
import { judgeById, judgePayments } from './judged/judge-payments.ts'

export type AuditDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'monotonicMs'>

/** Parts are judged separately, in the order of their keys. */
export type Part = {
  readonly key: string
  /** `isAgain`: a second check, which reads everything again. */
  readonly judge: (isAgain: boolean) => Promise<JudgeResult>
  /** Another audit writes the differences of this part. This audit only reports them. */
  readonly hasOwnVerdict?: true
}

/** All of a client's history is read in this many days, a slice each day. */
const SLICES = 30

export function dayNumber(at: Timestamp): number {
  return Math.floor(epochMs(at) / DAY_MS)
}

type BookPart = {
  readonly judge: (books: ClientBooks) => Promise<readonly Difference[]>
  /** The state that must not change while the part is judged. */
  readonly watched?: (books: ClientBooks) => unknown
  /** The lag of the indexes that the part reads; by default the lag of credits. */
  readonly lagMs?: number | undefined
}

/** The client's stored figures are read once for all parts. */
export function bookPart(
  deps: AuditDeps,
  read: ClientBooks,
  key: string,
  { judge, watched = ledgerState, lagMs }: BookPart,
): Part {
  return {
    key,
    judge: async (isAgain) => {
      const books = isAgain ? await readClientBooks(deps, read.client) : read
      // The indexes may not have the last writes yet.
      if (isAgain) await deps.sleep(lagMs ?? lagOfCredits(books, deps.now()))
      const found = await judge(books)
      if (found.length === 0) return found
      const after = await readClientBooks(deps, read.client)
      return isDeepStrictEqual(watched(after), watched(books)) ? found : 'unstable'
    },
  }
}

function ledgerState({ ledger, settlements }: ClientBooks) {
  return { ledger, settlements: settlements.length }
}

/**
 * The longest lag of an index whose writes are throttled. Nothing stores the time of a count, so
 * counts wait this long.
 */
export const LONGEST_LAG_MS = 100 * SECOND_MS

/**
 * The shard counts a credited payment at once. The index lists the payment as open only after its
 * lag.
 */
function lagOfCredits({ ledger }: ClientBooks, now: Timestamp): number {
  const updatedAt = ledger && balanceOf(ledger).updatedAt
  if (updatedAt === undefined) return SECOND_MS
  const leftMs = epochMs(updatedAt) + LONGEST_LAG_MS - epochMs(now)
  return Math.min(Math.max(leftMs, SECOND_MS), LONGEST_LAG_MS)
}

export function settlementIn({ settlements }: ClientBooks, settlementId: string) {
  return settlements.find(({ settlement }) => settlement.settlementId === settlementId)
}

export function settlementPart(deps: AuditDeps, read: ClientBooks, settlementId: string): Part {
  return bookPart(deps, read, `settlement ${settlementId}`, {
    judge: async (books) => {
      const stored = settlementIn(books, settlementId)
      // A missing or unreadable settlement is a difference of the part `figures`.
      if (stored === undefined) return []
      return [
        ...(await auditSettlement(deps, books, stored)),
        ...(await auditWitnesses(deps, stored.settlement)),
      ]
    },
    watched: (books) => settlementIn(books, settlementId)?.item,
    lagMs: SECOND_MS,
  })
}

/** The own audit of such a settlement takes several runs. */
export function isLong({ stage }: Pick<AuditDeps, 'stage'>, { entryCount }: Settlement): boolean {
  return entryCount > (stage.historySteps ?? HISTORY_STEPS).atOnce
}

/** One slice is due for each day since the last audit, at most all thirty. */
type DueSlices = (slice: number) => boolean

export function slicesSince(auditedDay: number | undefined, today: number): DueSlices {
  return (slice) => (today - slice) % SLICES < today - (auditedDay ?? 0)
}

export function isAlwaysDue(): boolean {
  return true
}

const TRAILS = 'trails'
export const SUSPENSE = 'suspense'
export const REGISTER = 'register'

/** The parts of every audit, the due slices of the history, and the parts in `wanted`. */
export async function partsOf(
  deps: AuditDeps,
  client: Client,
  isDue: DueSlices,
  wanted: ReadonlySet<string> = new Set(),
): Promise<readonly Part[]> {
  const books = await readClientBooks(deps, client)
  const firstDay = dayNumber(client.createdAt)
  // The clock of the function that created the newest payment may be ahead of this clock.
  const lastDay = dayNumber(addMs(later(deps.now(), client.createdAt), DAY_MS))
  const isWhole = isDue(slotOf(client.clientId, SLICES))
  const judgeSuspense = async () => {
    const judged = await auditHouse(deps, client.clientId)
    if (judged === 'unstable') return judged
    return judged.flatMap(({ clientId: owner, ...difference }) =>
      owner === client.clientId ? [difference] : [],
    )
  }
  const parts: readonly (readonly [isDue: boolean, part: Part])[] = [
    [true, bookPart(deps, books, 'figures', { judge: (read) => auditFigures(deps, read) })],
    // The daily audit of the gateway reads all suspense at once.
    [isDue === isAlwaysDue, { key: SUSPENSE, judge: judgeSuspense }],
    [true, { key: REGISTER, judge: () => auditRegistration(deps, client) }],
    [
      true,
      {
        key: TRAILS,
        judge: () => auditTrails(deps, client.clientId, { full: isWhole || wanted.has(TRAILS) }),
      },
    ],
    // A payment that is listed before its client's creation or in the future was tampered with.
    [true, paymentsPart(deps, books, 'before', ['0', timestampOf(firstDay * DAY_MS - 1)])],
    [true, paymentsPart(deps, books, 'later', [timestampOf((lastDay + 1) * DAY_MS), '9~'])],
    [
      isWhole,
      bookPart(deps, books, 'counts', {
        judge: (read) => auditCounts(deps, read),
        lagMs: LONGEST_LAG_MS,
      }),
    ],
    ...books.settlements.map(({ settlement }) => {
      const { settlementId } = settlement
      const part = settlementPart(deps, books, settlementId)
      const judgedPart = isLong(deps, settlement)
        ? longPart(deps, client.clientId, part.key, settlementId)
        : part
      return [isDue(slotOf(settlementId, SLICES)), judgedPart] as const
    }),
    ...Array.from({ length: lastDay - firstDay + 1 }, (_, at) => firstDay + at).flatMap((day) => {
      const start = timestampOf(day * DAY_MS)
      const name = start.slice(0, 10)
      const span = [start, timestampOf((day + 1) * DAY_MS - 1)] as const
      const isDayDue = isDue(day % SLICES)
      return [
        [isDayDue, paymentsPart(deps, books, name, span)] as const,
        [
          isDayDue,
          { key: `events ${name}`, judge: () => auditStrayEvents(deps, books, span) },
        ] as const,
      ]
    }),
  ]
  return parts
    .flatMap(([isPartDue, part]) => (isPartDue || wanted.has(part.key) ? [part] : []))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

/** The read may see half of a transaction, so differences are judged again at once. */
function paymentsPart(
  deps: AuditDeps,
  books: ClientBooks,
  name: string,
  span: readonly [string, string],
): Part {
  return {
    key: `payments ${name}`,
    judge: async () => {
      const confirmed: Difference[] = []
      for await (const page of ownedPayments(deps, books, span)) {
        const judged = await judgePayments(deps, books, page)
        const differingIds = judged.flatMap(({ id, differences }) =>
          differences.length > 0 ? [id] : [],
        )
        confirmed.push(
          ...(await judgeById(deps, books, differingIds)).flatMap(({ differences }) => differences),
        )
        if (confirmed.length >= MAX_DIFFERENCES) break
      }
      return confirmed
    },
  }
}

/**
 * Reports the last differences of a long settlement's own audit, and makes the next audit due.
 * Inconclusive before the first audit.
 */
function longPart(
  deps: AuditDeps,
  clientId: ClientId,
  key: string,
  settlementId: SettlementId,
): Part {
  return {
    key,
    hasOwnVerdict: true,
    judge: async () => {
      const verdict = await readSettlementVerdict(deps, settlementId)
      if (verdict?.state !== 'audited') return 'unstable'
      await deps.table.write(requestAudit(settlementId, deps.now()))
      const { standing } = await readClientVerdict(deps, clientId)
      return standing
        .filter(({ part }) => part === key)
        .map(({ part: _part, ...difference }) => difference)
    },
  }
}

/**
 * Judges at most `maxParts` parts in their order. Begins no part and no second check after `runMs`.
 * `stoppedAt`: the first part that is not judged. `unclear`: parts that changed too often; they
 * keep their differences until the next audit.
 */
export async function judgeParts(
  deps: Pick<Deps, 'sleep' | 'monotonicMs'>,
  parts: readonly Part[],
  runMs: number,
  maxParts = parts.length,
) {
  const endsAtMs = deps.monotonicMs() + runMs
  const hasTime = () => deps.monotonicMs() < endsAtMs
  const findings = new Map<string, readonly Difference[]>()
  const byOwnVerdict = new Map<string, readonly Difference[]>()
  const unclear: string[] = []
  for (const [at, { key, judge, hasOwnVerdict }] of parts.entries()) {
    if (at >= maxParts || (at > 0 && !hasTime()))
      return { findings, byOwnVerdict, stoppedAt: at, unclear }
    const result = await confirmedDifferences(deps, judge, hasTime)
    if (result.isInconclusive) unclear.push(key)
    else (hasOwnVerdict ? byOwnVerdict : findings).set(key, result.differences)
  }
  return { findings, byOwnVerdict, stoppedAt: undefined, unclear }
}
