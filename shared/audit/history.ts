import * as v from 'valibot'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { InvariantError } from '../errors.ts'
import { slotOf } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { digestOfSums } from '../settlement/long-settlement.ts'
import { isLong } from '../settlement/settlement.ts'
import { mayChangeSums } from '../settlement/settlement-store.ts'
import { SumProgressSchema } from '../settlement/sum-entries.ts'
import { DAY_MS, dayNumber, timestampOf } from '../time.ts'
import { confirmedDifferences, type Difference, withoutClient } from '../verdict/difference.ts'
import type { Verdict } from '../verdict/verdict-store.ts'
import { auditCounts, auditFigures } from './judged/audit-figures.ts'
import { dayText, FIRST_DAY, LAST_DAY, readHouse } from './judged/audit-journal.ts'
import { auditVerdict } from './judged/audit-progress.ts'
import { auditRegistration, notesOf } from './judged/audit-registers.ts'
import { judgeSettlement } from './judged/audit-settlement.ts'
import { auditSettlementEvents } from './judged/audit-settlement-events.ts'
import { judgeSuspense } from './judged/audit-suspense.ts'
import { auditTrails } from './judged/audit-trails.ts'
import {
  type ClientBooks,
  readClientBooks,
  type StoredSettlement,
  withCarried,
} from './judged/client-books.ts'
import { judgeListed } from './judged/judge-payments.ts'

export type AuditDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'monotonicMs'>

/** Parts are judged separately. A difference stands under the key of its part. */
export type Part = {
  readonly key: string
  /** The last day of the rows that it judges, in days since 1970; absent for all days. */
  readonly day?: number
  /** With a `state` in its answer the part is not whole: another call continues there. */
  readonly judge: (
    state: unknown,
    isOver: () => boolean,
  ) => Promise<{ readonly differences: readonly Difference[]; readonly state?: unknown }>
  /** What this part judges for a payout: the settlement's id, and the digest of its sums. */
  readonly longSettlement?: readonly [settlementId: string, digest: string]
}

export const SUSPENSE = 'suspense'
/** Of a client: the gateway's audit judges it too, and finds the same. */
export const REGISTERED = 'registered'

/**
 * What each audit judges first: figures, verdict, registration, keys, endpoints and recent changes.
 * Suspense is a part of the history, because the daily audit of the gateway reads that of all
 * clients at once.
 */
export async function figureParts(deps: AuditDeps, client: Client) {
  const { clientId, createdAt } = client
  const parts = [
    confirmedPart(deps, 'figures', async (isAgain) =>
      auditFigures(deps, await readClientBooks(deps, client), isAgain),
    ),
    confirmedPart(deps, 'verdict', () => auditVerdict(deps, clientId, createdAt)),
    confirmedPart(deps, REGISTERED, () => auditRegistration(deps, client)),
    confirmedPart(deps, 'trails', () => auditTrails(deps, clientId, { full: false })),
  ]
  return parts.map(catchBadRows)
}

const UNREADABLE_PART = 'part.rows'

/**
 * A part whose rows make its judgement impossible is a difference, so that it stops no other part,
 * client or run.
 */
function catchBadRows(part: Part): Part {
  return {
    ...part,
    judge: async (state, isOver) => {
      try {
        return await part.judge(state, isOver)
      } catch (error) {
        if (!isOfRows(error)) throw error
        const found = error instanceof InvariantError ? error.message : 'unreadable'
        const difference = { what: UNREADABLE_PART, id: part.key, expected: 'readable', found }
        return { differences: [difference] }
      }
    },
  }
}

/** The same rows would throw again, unlike an error of the table. */
function isOfRows(error: unknown) {
  return error instanceof InvariantError || error instanceof RangeError || v.isValiError(error)
}

export function confirmedPart(
  deps: AuditDeps,
  key: string,
  judge: Parameters<typeof confirmedDifferences>[1],
) {
  return { key, judge: async () => ({ differences: await confirmedDifferences(deps, judge) }) }
}

/**
 * The share of the history that is due on a day, by the days since the last share, and all parts in
 * which a difference stands. First the long settlements that wait to be paid or re-credited, or are
 * carried by one that waits.
 */
export async function historyParts(
  deps: AuditDeps,
  client: Client,
  { historyDay, standing, longSettlements }: Verdict,
  day: number,
) {
  const books = await readClientBooks(deps, client)
  const isDue = dueOn(day, historyDay)
  const isWholeAudit = historyDay === undefined
  const firstDay = dayNumber(client.createdAt)
  const days = Array.from({ length: Math.max(1, day - firstDay + 1) }, (_, at) => firstDay + at)
  const isCycleDay = isDue(dayOfSlot(day, slotOf(client.clientId, CYCLE_DAYS)))
  const toPay = new Set(
    books.settlements
      .filter(({ settlement }) => mayChangeSums(settlement))
      .flatMap((own) => withCarried(books, own)),
  )
  const parts: readonly DuePart[] = [
    [
      isCycleDay,
      confirmedPart(deps, 'counts', (isAgain) => auditCounts(deps, client.clientId, isAgain)),
    ],
    [
      isCycleDay,
      confirmedPart(deps, 'all trails', () => auditTrails(deps, client.clientId, { full: true })),
    ],
    [isWholeAudit, suspensePart(deps, client)],
    // A payment that is listed before its client's creation, or in the future, was tampered with.
    [true, listedPart(deps, client, 'before', [FIRST_DAY, timestampOf(firstDay * DAY_MS - 1)])],
    ...books.settlements.map((stored) => {
      const { settlementId, createdAt } = stored.settlement
      const created = dayNumber(createdAt)
      const isToPay = toPay.has(stored)
      const part = settlementPart(deps, books, stored, isWholeAudit || isToPay)
      if (!isToPay || !isLong(deps, stored.settlement))
        return [isDue(created) && (isWholeAudit || created < day), part] as const
      const digest = digestOfSums(stored.settlement)
      const isLongDue = isWholeAudit || longSettlements[settlementId] !== digest
      return [isLongDue, { ...part, longSettlement: [settlementId, digest] }] as const
    }),
    ...days.map((one, at): DuePart => {
      const end = at === days.length - 1 ? LAST_DAY : timestampOf((one + 1) * DAY_MS - 1)
      const span = [timestampOf(one * DAY_MS), end] as const
      return [isDue(one), { ...listedPart(deps, client, dayText(one), span), day: one }]
    }),
  ]
  return dueParts(parts, standing)
}

function listedPart(
  deps: AuditDeps,
  { clientId }: Client,
  name: string,
  span: readonly [string, string],
): Part {
  return {
    key: `payments ${name}`,
    judge: (state, isOver) => judgeListed(deps, clientId, { span, state, isOver }),
  }
}

export type DuePart = readonly [isPartDue: boolean, part: Part]

/** The due parts and all parts in which a difference stands, in the order of an audit. */
export function dueParts(parts: readonly DuePart[], standing: Verdict['standing']) {
  const wanted = new Set(standing.map(({ part }) => part))
  return parts
    .flatMap(([isPartDue, part]) => (isPartDue || wanted.has(part.key) ? [part] : []))
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    .map(catchBadRows)
}

/**
 * A long settlement that waits for a payout comes first. Then newest first, because a restore tears
 * the newest rows.
 */
export function orderOf({ key, day, longSettlement }: Part) {
  return longSettlement ? ` ${key}` : `${day === undefined ? 0 : 99_999 - day} ${key}`
}

/** All of the last hundred days is read in thirty days, older history in 360. */
export const CYCLE_DAYS = 30
const OLD_CYCLE_DAYS = 360
const RECENT_DAYS = 100

/** All days are due without an earlier share, or with one that is not in the past. */
export function dueOn(today: number, historyDay: number | undefined): (day: number) => boolean {
  const missed =
    historyDay === undefined || historyDay > today ? OLD_CYCLE_DAYS : today - historyDay
  return (day) => {
    const age = today - day
    const recentAge = Math.min(age, RECENT_DAYS)
    return (
      age - Math.max(ageAtCycleStart(recentAge, CYCLE_DAYS), ageAtCycleStart(age, OLD_CYCLE_DAYS)) <
      missed
    )
  }
}

/** The age of a day, in days, when its present cycle began. */
function ageAtCycleStart(age: number, cycle: number) {
  return Math.floor(age / cycle) * cycle
}

/** The newest day, up to today, on which the share of a slot is due. */
export function dayOfSlot(today: number, slot: number) {
  return today - ((today - slot) % CYCLE_DAYS)
}

/** Listed suspense of the client, and suspense that its register and the house journal name. */
function suspensePart(deps: AuditDeps, { clientId }: Client): Part {
  return {
    key: SUSPENSE,
    judge: async (state, isOver) => {
      const { entries } = await readHouse(deps)
      const booked = entries.flatMap((one) => (one.clientId === clientId && one.suspenseId) || [])
      const noted = (await notesOf(deps, clientId)).map(({ id }) => id)
      const { differences, ...left } = await judgeSuspense(deps, entries, {
        lists: [[FIRST_DAY, LAST_DAY]],
        named: new Set([...booked, ...noted]),
        clientId,
        state,
        isOver,
      })
      return { ...left, differences: differences.map(withoutClient) }
    },
  }
}

/** On the day of the record the payout gate judges the settlement. */
function settlementPart(
  deps: AuditDeps,
  books: ClientBooks,
  stored: StoredSettlement,
  withPayments: boolean,
): Part {
  const { settlementId, createdAt } = stored.settlement
  const key = `settlement ${settlementId}`
  return {
    key,
    day: dayNumber(createdAt),
    judge: async (state, isOver) => {
      const from = ifValid(SumProgressSchema, state)
      const judged = await judgeSettlement(deps, books, stored, { from, isOver, withPayments })
      if (judged.state !== undefined) return judged
      const events = await confirmedDifferences(deps, () =>
        auditSettlementEvents(deps, books, settlementId),
      )
      return { differences: [...judged.differences, ...events] }
    },
  }
}
