import type { Client } from '../client/client.ts'
import { slotOf } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { digestOfSums } from '../settlement/long-settlement.ts'
import { isLong } from '../settlement/settlement.ts'
import { mayChangeSums } from '../settlement/settlement-store.ts'
import { SumProgressSchema } from '../settlement/sum-entries.ts'
import { DAY_MS, dayNumber, timestampOf } from '../time.ts'
import { confirmedDifferences, withoutClient } from '../verdict/difference.ts'
import type { Verdict } from '../verdict/verdict-store.ts'
import {
  type AuditDeps,
  CYCLE_DAYS,
  catchBadRows,
  confirmedPart,
  type DuePart,
  dayOfSlot,
  dueOn,
  dueParts,
  type Part,
  REGISTERED,
  SUSPENSE,
} from './due-parts.ts'
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
