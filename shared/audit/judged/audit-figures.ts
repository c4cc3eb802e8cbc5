import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { type Entry, standingFigures } from '../../journal/entry.ts'
import { entryPages } from '../../journal/read-entries.ts'
import { countOf, creditedOf, type Ledger } from '../../ledger/ledger-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../payment-status.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import type { Item } from '../../table/attributes.ts'
import { idOf, ownersOf, paymentKey } from '../../table/keys.ts'
import { LEDGER_SHARDS } from '../../table/schema.ts'
import { addMs, DAY_MS, END_OF_TIME, later, MINUTE_MS, type Timestamp, TimestampSchema } from '../../time.ts'
import { type Difference, differs, when } from '../../verdict/difference.ts'
import { auditAdjustments, auditEntries } from './audit-entries.ts'
import { type ClientBooks, ownedPayments, storedPayment } from './client-books.ts'

/** Plain numbers, because a tampered figure can exceed the range of money and must still be reported. */
type Sums = { netMinor: number; recreditedMinor: number; writtenOffMinor: number }

const addEntry = (sums: Sums, { type, standsForType = type, netMinor }: Entry): void => {
  if (type === 'recredit') sums.recreditedMinor += netMinor
  else sums.netMinor += netMinor
  if (standsForType === 'written_off') sums.writtenOffMinor += netMinor
}

type TailDeps = StoreDeps & Parameters<typeof entryPages>[0]

/** Compares the entries that no settlement has taken yet with their sources. `seen`: open payments with an entry. */
const auditTail = async (deps: TailDeps, books: ClientBooks, start: Timestamp, open: readonly Payment[]) => {
  const { clientId, parts } = books
  const sums: Sums = { netMinor: 0, recreditedMinor: 0, writtenOffMinor: 0 }
  const differences: Difference[] = []
  const named = new Set<PaymentId | undefined>()
  const openIds = new Set<PaymentId | undefined>(open.map(({ paymentId }) => paymentId))
  const span = { start, end: v.parse(TimestampSchema, END_OF_TIME) }
  for await (const { entries } of entryPages(deps, { clientId, parts, span })) {
    for (const entry of entries) {
      addEntry(sums, entry)
      if (openIds.has(entry.paymentId)) named.add(entry.paymentId)
    }
    differences.push(...(await auditEntries(deps, books, entries)))
  }
  return { sums, seen: open.filter(({ paymentId }) => named.has(paymentId)), differences }
}

/** What the open payments hold. One that was posted while the entries were read, at its estimate, changed no shard. */
const openSum = async (deps: StoreDeps, open: readonly Payment[], seen: readonly Payment[]) => {
  const items = await deps.table.getMany(seen.map(({ paymentId }) => paymentKey(paymentId)))
  const posted = new Set(seen.filter((_, at) => ifValid(PaymentSchema, items[at])?.openAt === undefined))
  return open
    .filter((payment) => !posted.has(payment))
    .reduce((sum, payment) => sum + standingFigures(moneyOf(payment)).netMinor, 0)
}

const settledSums = ({ settlements }: ClientBooks) => {
  const sums = { netMinor: 0, writtenOffMinor: 0, inSettlementMinor: 0, paidOutMinor: 0 }
  for (const { settlement } of settlements) {
    const { netMinor, recreditedMinor, status, recreditedAt, totals, leftOut = [] } = settlement
    sums.netMinor += netMinor - recreditedMinor
    for (const total of totals) if (total.type === 'written_off') sums.writtenOffMinor += total.netMinor
    // A left-out entry counts here, and its later re-credit does not count.
    for (const entry of leftOut) sums.netMinor += entry.netMinor
    if (status === 'manual_paid') sums.paidOutMinor += netMinor
    else if (recreditedAt === undefined) sums.inSettlementMinor += netMinor
  }
  return sums
}

/**
 * Compares a client's stored figures with sums of their parts (design section 4, "Audit"). All open payments and all
 * entries after the last settlement are read; these are of a few days.
 */
export const auditFigures = async (deps: TailDeps, books: ClientBooks) => {
  const { clientId, ledger, parts, client } = books
  const chain = [...books.differences, ...auditChain(books)]
  if (ledger === undefined) return chain
  const { window, shards } = ledger
  const start = books.settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt
  const open = await auditOpenPayments(deps, books)
  const tail = await auditTail(deps, books, start, open.payments)
  const openMinor = await openSum(deps, open.payments, tail.seen)
  const settled = settledSums(books)
  const figures: readonly (readonly [name: string, expected: number, found: number])[] = [
    ['ledger.credited_minor', settled.netMinor + tail.sums.netMinor + openMinor, creditedOf(ledger)],
    ['window.available_minor', tail.sums.recreditedMinor, window.availableMinor],
    ['window.in_settlement_minor', settled.inSettlementMinor, window.inSettlementMinor],
    ['window.paid_out_minor', settled.paidOutMinor, window.paidOutMinor],
    ['window.written_off_minor', settled.writtenOffMinor + tail.sums.writtenOffMinor, window.writtenOffMinor],
  ]
  const numbers = new Set(shards.map(({ number }) => number))
  const count = parts * LEDGER_SHARDS
  return [
    ...chain,
    ...figures.flatMap(([name, expected, found]) => differs(name, clientId, expected, found)),
    ...Array.from({ length: count }, (_, shard) => shard).flatMap((shard) =>
      when(!numbers.has(shard), differs('ledger_shard', String(shard), 'there', 'not there')),
    ),
    ...when(shards.length > count, differs('ledger_shard', clientId, `${count} shards`, shards.length)),
    ...tail.differences,
    ...(await auditAdjustments(deps, books)),
    ...auditFence(books, ledger, deps.now()),
    ...auditChanged(books, ledger, deps.now()),
    ...open.differences,
  ]
}

/** Keys that one query counts; DynamoDB ends a page at 1 MB. */
const KEYS_COUNTED = 5_000

const countOwner = async (deps: StoreDeps, owner: string, status: PaymentStatus): Promise<number> => {
  const partition = [owner, 'payment', status]
  let count = 0
  let cursor: Item | undefined
  do {
    const asked = { index: 'by-status', partition, limit: KEYS_COUNTED, countOnly: true } as const
    const page = await deps.table.query(cursor ? { ...asked, cursor } : asked)
    count += page.count
    cursor = page.cursor
  } while (cursor)
  return count
}

/** Compares the counts of the shards with the payments that the index lists in each status. */
export const auditCounts = async (deps: StoreDeps, { clientId, parts, ledger }: ClientBooks) => {
  if (ledger === undefined) return []
  const counted = await Promise.all(
    PAYMENT_STATUSES.map(async (status) => {
      const counts = await Promise.all(ownersOf(clientId, parts).map((owner) => countOwner(deps, owner, status)))
      const expected = counts.reduce((sum, count) => sum + count, 0)
      return differs(`ledger.count_${status}`, clientId, expected, countOf(ledger, status))
    }),
  )
  return counted.flat()
}

/** A client's open payments, as they are now. A payment that was posted after the index was read is not open. */
const auditOpenPayments = async (deps: StoreDeps, books: ClientBooks) => {
  const payments: Payment[] = []
  const differences: Difference[] = []
  for await (const page of ownedPayments(deps, books, 'open')) {
    for (const owned of page) {
      const payment = storedPayment(owned)
      if (payment === undefined) differences.push(...differs('payment', idOf(owned.key.pk), 'readable', 'unreadable'))
      else if (payment.openAt !== undefined) payments.push(payment)
    }
  }
  return { payments, differences }
}

/** More than clocks differ. */
const SKEW_MS = 5 * MINUTE_MS

const isOutside = (from: Timestamp, to: Timestamp, time: Timestamp): boolean => time < from || time > to

/** The fence of each shard lies between the settled time and the window's fence, and no fence lies in the future. */
const auditFence = ({ clientId }: ClientBooks, { window, shards }: Ledger, now: Timestamp): readonly Difference[] => {
  const { settledUntil, closedUntil } = window
  const rule = 'from what is settled until where the window is closed'
  return [
    ...when(
      isOutside(settledUntil, addMs(later(now, settledUntil), SKEW_MS), closedUntil),
      differs('window.closed_until', clientId, 'from what is settled until now', closedUntil),
    ),
    ...shards
      .filter((shard) => isOutside(settledUntil, closedUntil, shard.closedUntil))
      .flatMap((shard) => differs('ledger_shard.closed_until', String(shard.number), rule, shard.closedUntil)),
  ]
}

/** When settlements and re-credits changed the window. */
export const changeTimes = (settlements: ClientBooks['settlements']): readonly Timestamp[] =>
  settlements.flatMap(({ settlement: { createdAt, recreditedAt, leftOut = [] } }) => [
    createdAt,
    recreditedAt ?? createdAt,
    ...leftOut.map((entry) => entry.recreditedAt),
  ])

/** The window's change time is that of a settlement or a re-credit. A shard's time lies between creation and now. */
const auditChanged = (
  { client, clientId, settlements }: ClientBooks,
  { window: { changedAt }, shards }: Ledger,
  now: Timestamp,
): readonly Difference[] => {
  const times = changeTimes(settlements)
  // Settling and re-crediting never wait for each other, so the last commit may have the earlier time.
  const isOfNone = changedAt === undefined ? times.length > 0 : !times.includes(changedAt)
  const [born, soon] = [addMs(client.createdAt, -DAY_MS), addMs(now, SKEW_MS)]
  return [
    ...when(isOfNone, differs('window.changed_at', clientId, 'the time of a settlement or of a re-credit', changedAt)),
    ...shards
      .filter(({ creditedAt: at, creditedMinor }) => (at ? isOutside(born, soon, at) : creditedMinor !== 0))
      .flatMap(({ number, creditedAt: at = 'none' }) =>
        differs('ledger_shard.credited_at', String(number), 'a time that has come', at),
      ),
  ]
}

/** Windows follow one another without a gap, from the client's creation to its settled time. */
export const auditChain = ({ client, clientId, settlements, ledger }: ClientBooks): readonly Difference[] => {
  const differences: Difference[] = []
  let until: Timestamp = client.createdAt
  let last: string | undefined
  for (const { settlement } of settlements) {
    const { settlementId: id, sweptFrom, sweptUntil, previousId } = settlement
    differences.push(
      ...differs('settlement.swept_from', id, until, sweptFrom),
      ...differs('settlement.previous_id', id, last, previousId),
      ...when(sweptUntil <= sweptFrom, differs('settlement.swept_until', id, 'after its start', sweptUntil)),
    )
    until = sweptUntil
    last = id
  }
  if (ledger === undefined) return differences
  return [
    ...differences,
    ...differs('window.settled_until', clientId, until, ledger.window.settledUntil),
    ...differs('window.last_settlement_id', clientId, last, ledger.window.lastSettlementId),
  ]
}
