import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { Entry } from '../../journal/entry.ts'
import { standingFigures } from '../../journal/payment-money.ts'
import { entryPages } from '../../journal/read-entries.ts'
import { countOf, creditedOf, type Ledger } from '../../ledger/ledger-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../payment-status.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import { idOf, ownersOf, paymentKey } from '../../table/keys.ts'
import { queryPages } from '../../table/list-items.ts'
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

type EntryDeps = StoreDeps & Parameters<typeof entryPages>[0]

/** Compares entries that are in no settlement yet with their sources. `seen`: open payments that have an entry. */
const auditUnsettled = async (deps: EntryDeps, books: ClientBooks, start: Timestamp, open: readonly Payment[]) => {
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

/** The net sum of open payments. Without those posted meanwhile: the entries' sum already has them. */
const sumOfOpen = async (deps: StoreDeps, open: readonly Payment[], seen: readonly Payment[]) => {
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
    // A left-out entry counts here. Its later re-credit does not.
    for (const entry of leftOut) sums.netMinor += entry.netMinor
    if (status === 'manual_paid') sums.paidOutMinor += netMinor
    else if (recreditedAt === undefined) sums.inSettlementMinor += netMinor
  }
  return sums
}

/**
 * Compares a client's stored figures with the sums of their parts (design section 4, "Audit"). It reads the settlements,
 * all open payments and all entries after the last settlement. The latter two are usually of a few days.
 */
export const auditFigures = async (deps: EntryDeps, books: ClientBooks) => {
  const { clientId, ledger, parts, client } = books
  const chain = [...books.differences, ...auditChain(books)]
  if (ledger === undefined) return chain
  const { window, shards } = ledger
  const start = books.settlements.at(-1)?.settlement.sweptUntil ?? client.createdAt
  const open = await auditOpenPayments(deps, books)
  const unsettled = await auditUnsettled(deps, books, start, open.payments)
  const openMinor = await sumOfOpen(deps, open.payments, unsettled.seen)
  const settled = settledSums(books)
  const figures: readonly (readonly [name: string, expected: number, found: number])[] = [
    ['ledger.credited_minor', settled.netMinor + unsettled.sums.netMinor + openMinor, creditedOf(ledger)],
    ['window.available_minor', unsettled.sums.recreditedMinor, window.availableMinor],
    ['window.in_settlement_minor', settled.inSettlementMinor, window.inSettlementMinor],
    ['window.paid_out_minor', settled.paidOutMinor, window.paidOutMinor],
    ['window.written_off_minor', settled.writtenOffMinor + unsettled.sums.writtenOffMinor, window.writtenOffMinor],
  ]
  const numbers = new Set(shards.map(({ number }) => number))
  const count = parts * LEDGER_SHARDS
  return [
    ...chain,
    ...figures.flatMap(([name, expected, found]) => differs(name, clientId, expected, found)),
    ...Array.from({ length: count }, (_, shard) => shard).flatMap((shard) =>
      when(!numbers.has(shard), differs('ledger_shard', String(shard), 'present', 'missing')),
    ),
    ...when(shards.length > count, differs('ledger_shard', clientId, `${count} shards`, shards.length)),
    ...unsettled.differences,
    ...(await auditAdjustments(deps, books)),
    ...auditFence(books, ledger, deps.now()),
    ...auditChanged(books, ledger, deps.now()),
    ...open.differences,
  ]
}

/** The most keys that one query counts. DynamoDB ends a page at 1 MB. */
const KEYS_COUNTED = 5_000

const countOwner = async (deps: StoreDeps, owner: string, status: PaymentStatus): Promise<number> => {
  const partition = [owner, 'payment', status]
  const pages = queryPages(deps, { index: 'by-status', partition, limit: KEYS_COUNTED, countOnly: true })
  let total = 0
  for await (const { count } of pages) total += count
  return total
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

/** A client's open payments. The index may list a payment that is posted already; it is left out. */
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

/** More than the clocks of two functions differ. */
const SKEW_MS = 5 * MINUTE_MS

const isOutside = (from: Timestamp, to: Timestamp, time: Timestamp): boolean => time < from || time > to

/** A shard's fence is between the window's settled time and the window's fence. No fence is in the future. */
const auditFence = ({ clientId }: ClientBooks, { window, shards }: Ledger, now: Timestamp): readonly Difference[] => {
  const { settledUntil, closedUntil } = window
  const rule = 'from settled_until to closed_until of the window'
  return [
    ...when(
      isOutside(settledUntil, addMs(later(now, settledUntil), SKEW_MS), closedUntil),
      differs('window.closed_until', clientId, 'from settled_until to now', closedUntil),
    ),
    ...shards
      .filter((shard) => isOutside(settledUntil, closedUntil, shard.closedUntil))
      .flatMap((shard) => differs('ledger_shard.closed_until', String(shard.number), rule, shard.closedUntil)),
  ]
}

/** The times at which settlements and re-credits changed the window. */
export const changeTimes = (settlements: ClientBooks['settlements']): readonly Timestamp[] =>
  settlements.flatMap(({ settlement: { createdAt, recreditedAt, leftOut = [] } }) => [
    createdAt,
    recreditedAt ?? createdAt,
    ...leftOut.map((entry) => entry.recreditedAt),
  ])

/** The window changes only with a settlement or a re-credit. No credit is before the client or in the future. */
const auditChanged = (
  { client, clientId, settlements }: ClientBooks,
  { window: { changedAt }, shards }: Ledger,
  now: Timestamp,
): readonly Difference[] => {
  const times = changeTimes(settlements)
  // A settlement and a re-credit run concurrently, so the last commit may have the earlier time.
  const isUnknownTime = changedAt === undefined ? times.length > 0 : !times.includes(changedAt)
  const [earliest, latest] = [addMs(client.createdAt, -DAY_MS), addMs(now, SKEW_MS)]
  return [
    ...when(
      isUnknownTime,
      differs('window.changed_at', clientId, 'the time of a settlement or of a re-credit', changedAt),
    ),
    ...shards
      .filter(({ creditedAt: at, creditedMinor }) => (at ? isOutside(earliest, latest, at) : creditedMinor !== 0))
      .flatMap(({ number, creditedAt: at = 'none' }) =>
        differs('ledger_shard.credited_at', String(number), 'a past time', at),
      ),
  ]
}

/** Windows follow one another without a gap, from the client's creation to its settled time. */
export const auditChain = ({ client, clientId, settlements, ledger }: ClientBooks): readonly Difference[] => {
  const differences = settlements.flatMap(({ settlement }, at) => {
    const { settlementId: id, sweptFrom, sweptUntil, previousId } = settlement
    const before = settlements[at - 1]?.settlement
    return [
      ...differs('settlement.swept_from', id, before?.sweptUntil ?? client.createdAt, sweptFrom),
      ...differs('settlement.previous_id', id, before?.settlementId, previousId),
      ...when(sweptUntil <= sweptFrom, differs('settlement.swept_until', id, 'after its start', sweptUntil)),
    ]
  })
  if (ledger === undefined) return differences
  const last = settlements.at(-1)?.settlement
  return [
    ...differences,
    ...differs('window.settled_until', clientId, last?.sweptUntil ?? client.createdAt, ledger.window.settledUntil),
    ...differs('window.last_settlement_id', clientId, last?.settlementId, ledger.window.lastSettlementId),
  ]
}
