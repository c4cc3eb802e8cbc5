import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { slotOf } from '../ids.ts'
import { addMs, DAY_MS, epochMs, later, type Timestamp, timestampOf } from '../time.ts'
import { type Difference, differs, MAX_DIFFERENCES } from '../verdict/difference.ts'
import { auditCounts } from './judged/audit-counts.ts'
import { auditFigures } from './judged/audit-figures.ts'
import { judgeById, judgePayments } from './judged/audit-payments.ts'
import { auditSettlement } from './judged/audit-settlement.ts'
import { auditTrails } from './judged/audit-trail.ts'
import { type ClientBooks, readClientBooks } from './judged/client-books.ts'
import { ownedItems } from './judged/owned-items.ts'

export type AuditDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'monotonicMs'>

/** A part of a client's books that is judged by itself. The key names it, and parts are judged in the order of keys. */
export type Part = {
  readonly key: string
  /** `isAgain`: what was read for the first look is read again. */
  readonly judge: (isAgain: boolean) => Promise<readonly Difference[]>
}

/** All of a client's history is read again in so many days, a slice each day. */
export const SLICES = 30

export const dayNumber = (at: Timestamp): number => Math.floor(epochMs(at) / DAY_MS)

type Judge = (books: ClientBooks) => Promise<readonly Difference[]>

/** A part that is held against the client's kept figures, read once for all parts. */
const bookPart = (deps: AuditDeps, read: ClientBooks, key: string, judge: Judge): Part => ({
  key,
  judge: async (isAgain) => judge(isAgain ? await readClientBooks(deps, read.client) : read),
})

/** One settlement of a client. */
export const settlementPart = (deps: AuditDeps, read: ClientBooks, settlementId: string): Part =>
  bookPart(deps, read, `settlement ${settlementId}`, async (books) => {
    const stored = books.settlements.find(({ settlement }) => settlement.settlementId === settlementId)
    if (stored === undefined) return differs('settlement', settlementId, 'readable', 'unreadable')
    return auditSettlement(deps, books, stored)
  })

/** Payments that were created on one day. Differing ones are judged once more by themselves: they may just have moved. */
const paymentsPart = (
  deps: AuditDeps,
  { clientId, parts }: Pick<ClientBooks, 'clientId' | 'parts'>,
  day: number,
): Part => {
  const start = timestampOf(day * DAY_MS)
  const end = timestampOf((day + 1) * DAY_MS - 1)
  return {
    key: `payments ${start.slice(0, 10)}`,
    judge: async () => {
      const found: Difference[] = []
      for await (const page of ownedItems(deps, clientId, 'payment', { parts, between: [start, end] })) {
        const judged = await judgePayments(deps, { clientId }, page)
        const ids = judged.flatMap(({ id, differences }) => (differences.length > 0 ? [id] : []))
        const again = ids.length > 0 ? await judgeById(deps, { clientId }, ids) : []
        found.push(...again.flatMap(({ differences }) => differences))
        if (found.length >= MAX_DIFFERENCES) break
      }
      return found
    },
  }
}

/** Which slices of history are due: one for each day since the last audit, all of them once thirty days have passed. */
export type DueSlices = (of: number) => boolean

export const slicesSince = (auditedDay: number | undefined, today: number): DueSlices => {
  const first = Math.max(today - SLICES + 1, (auditedDay ?? today - SLICES) + 1)
  const due = new Set(Array.from({ length: Math.max(0, today - first + 1) }, (_, at) => (first + at) % SLICES))
  return (of) => due.has(of)
}

export const ALL_SLICES: DueSlices = () => true

/**
 * The parts of an audit of one client: what every audit looks at, the slices of settled history and of payments that are
 * due, and parts that are wanted besides. With all slices it is the audit of the whole client.
 */
export const partsOf = async (
  deps: AuditDeps,
  client: Client,
  isDue: DueSlices,
  wanted: ReadonlySet<string> = new Set(),
): Promise<readonly Part[]> => {
  const books = await readClientBooks(deps, client)
  const first = dayNumber(client.createdAt)
  // A clock may be behind the one that made the newest payment.
  const last = dayNumber(addMs(later(deps.now(), client.createdAt), DAY_MS))
  const isWhole = isDue(slotOf(client.clientId, SLICES))
  const trails = () => auditTrails(deps, client.clientId, { full: isWhole, known: new Set() })
  const parts = [
    { part: bookPart(deps, books, 'figures', (read) => auditFigures(deps, read)), due: true },
    { part: { key: 'trails', judge: trails }, due: true },
    { part: bookPart(deps, books, 'counts', (read) => auditCounts(deps, read)), due: isWhole },
    ...books.settlements.map(({ settlement: { settlementId } }) => ({
      part: settlementPart(deps, books, settlementId),
      due: isDue(slotOf(settlementId, SLICES)),
    })),
    ...Array.from({ length: last - first + 1 }, (_, at) => first + at).map((day) => ({
      part: paymentsPart(deps, books, day),
      due: isDue(day % SLICES),
    })),
  ].flatMap(({ part, due }) => (due || wanted.has(part.key) ? [part] : []))
  return parts.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}
