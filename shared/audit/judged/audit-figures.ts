import { isDeepStrictEqual } from 'node:util'
import type { StoreDeps } from '../../deps.ts'
import type { ClientId, PaymentId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { standingFigures } from '../../journal/payment-money.ts'
import { entryPages } from '../../journal/read-entries.ts'
import { countOf, type Ledger } from '../../ledger/ledger-store.ts'
import { shardRow } from '../../ledger/shard-store.ts'
import { negated } from '../../money.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { PAYMENT_STATUSES } from '../../payment-status.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import type { EntrySums } from '../../settlement/sum-entries.ts'
import { idOf, paymentKey } from '../../table/keys.ts'
import { keyedItems, queryPages } from '../../table/list-items.ts'
import { LEDGER_SHARDS } from '../../table/schema.ts'
import type { Reads } from '../../table/table.ts'
import { addMs, DAY_MS, MINUTE_MS, SECOND_MS, type Timestamp } from '../../time.ts'
import {
  brokenRules,
  compare,
  type Difference,
  onlyIf,
  unreadableRow,
} from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { auditAdjustments, auditEntries, readingInto } from './audit-entries.ts'
import {
  type ClientBooks,
  type JudgeDeps,
  openPaymentPages,
  readableLedger,
  strayRows,
} from './client-books.ts'
import { estimateOf, judgeOwners } from './derive-payment.ts'

const LONGEST_LAG_MS = 100 * SECOND_MS

/**
 * Derives the shards and the window of a client from its settlements, open payments and unsettled
 * entries (design section 4). Changes since a minute before the read of the shards may be in them
 * or not, so a client that is credited between the reads has an answer too.
 */
export async function auditFigures(deps: JudgeDeps, books: ClientBooks, isAgain = true) {
  const { clientId, ledger, ledgerRows } = books
  const chain = [...books.differences, ...auditChain(books)]
  if (ledger === undefined) return chain
  // Between the reads of the shards and of what they are made of, the indexes catch up.
  if (isAgain) await deps.sleep(deps.stage.indexLagMs ?? LONGEST_LAG_MS)
  const { window, shards } = ledger
  const { sums, under, over, differences } = await sumUnsettled(deps, books, isAgain)
  const creditedMinor = shards.reduce((sum, shard) => sum + shard.creditedMinor, 0)
  const { netMinor, ...windowSums } = sums
  const [lowest, highest] = [netMinor - under, netMinor + over]
  const ofWindow = [
    ...chain,
    ...rowDifferences('window', clientId, { ...window, ...windowSums }, ledgerRows.get('window')),
  ]
  const windowAfter = ofWindow.length > 0 ? (await readableLedger(deps, clientId))?.window : window
  // A settlement, a payout or a re-credit may have moved the window during the read.
  return [
    ...(isDeepStrictEqual(windowAfter, window) ? ofWindow : books.differences),
    ...compare(
      'ledger.credited_minor',
      clientId,
      Math.min(Math.max(creditedMinor, lowest), highest),
      creditedMinor,
    ),
    ...Array.from({ length: LEDGER_SHARDS }, (_, number) => {
      const shard = shards.find((one) => one.number === number)
      return shard
        ? rowDifferences('ledger_shard', String(number), shardRow(shard), ledgerRows.get(number))
        : compare('ledger_shard', String(number), 'readable', 'unreadable or missing')
    }).flat(),
    ...strayRows(ledgerRows),
    ...differences,
    ...(await auditAdjustments(deps, books)),
    ...auditTimes(books, ledger, deps.now()),
  ]
}

/** Windows follow one another without a gap, from the client's creation to its settled time. */
export function auditChain(books: ClientBooks) {
  const { client, clientId, settlements, unsettled, ledger } = books
  const differences = settlements.flatMap(({ settlement }, at) => {
    const { settlementId: id, sweptFrom, sweptUntil, previousId } = settlement
    const previous = settlements[at - 1]?.settlement
    return [
      ...compare('settlement.swept_from', id, previous?.sweptUntil ?? client.createdAt, sweptFrom),
      ...compare('settlement.previous_id', id, previous?.settlementId, previousId),
      ...brokenRules('settlement', id, [
        ['swept_until', sweptUntil > sweptFrom, 'after its start', sweptUntil],
      ]),
    ]
  })
  if (ledger === undefined) return differences
  const lastId = settlements.at(-1)?.settlement.settlementId
  return [
    ...differences,
    ...compare('window.settled_until', clientId, unsettled.span.start, ledger.window.settledUntil),
    ...compare('window.last_settlement_id', clientId, lastId, ledger.window.lastSettlementId),
  ]
}

/** Sums with the open payments and the unsettled entries, and how far the shards may differ. */
async function sumUnsettled(deps: JudgeDeps, books: ClientBooks, isAgain: boolean) {
  const reads = isAgain ? 'consistent' : 'eventual'
  const recentFrom = addMs(books.readAt, -MINUTE_MS)
  const sums = settledSums(books)
  const { open, differences } = await openPayments(deps, books, reads)
  const moved = new Map<PaymentId, Payment>()
  const movedIds = new Set<PaymentId>()
  const range = { under: 0, over: 0 }
  /** The shards may lack this change. */
  const allow = (netMinor: number) => {
    if (netMinor > 0) range.under += netMinor
    else range.over -= netMinor
  }
  // The entries of a settlement that was recorded since may be newer than the shards.
  for (const { settlement } of books.settlements)
    if (settlement.createdAt > books.readAt) allow(settlement.netMinor - settlement.recreditedMinor)
  const { read, itemOf } = readingInto(differences)
  for await (const { entries } of entryPages(deps, { ...books.unsettled, read })) {
    for (const { type, netMinor, paymentId, postedAt, carried } of entries) {
      sums.netMinor += netMinor
      sums.availableMinor += carried?.netMinor ?? 0
      if (type === 'written_off') sums.writtenOffMinor += netMinor
      // A payment that was posted between the reads is in the entries already.
      if (type === 'payment' && paymentId) open.delete(paymentId)
      if (postedAt <= recentFrom) continue
      if (paymentId) movedIds.add(paymentId)
      else allow(netMinor)
    }
    differences.push(...(await auditEntries(deps, books, { entries, itemOf, reads })))
  }
  for (const payment of open.values()) {
    sums.netMinor += standingFigures(moneyOf(payment)).netMinor
    moved.set(payment.paymentId, payment)
  }
  const keys = [...movedIds].map(paymentKey)
  for (const row of keyedItems(keys, await deps.table.getMany(keys))) {
    const payment = ifValid(PaymentSchema, row.item)
    if (payment) moved.set(payment.paymentId, payment)
  }
  for (const payment of moved.values()) recentChanges(payment, recentFrom).forEach(allow)
  return { sums, ...range, differences }
}

/** Of the index, which may list a payment that is posted already. */
async function openPayments(deps: StoreDeps, books: ClientBooks, reads: Reads) {
  const differences: Difference[] = []
  const open = new Map<PaymentId, Payment>()
  for await (const page of openPaymentPages(deps, books.clientId, reads)) {
    for (const owned of page) {
      const payment = ifValid(PaymentSchema, owned.item)
      if (payment === undefined) differences.push(...unreadableRow('payment', idOf(owned.key.pk)))
      else if (payment.openAt !== undefined) open.set(payment.paymentId, payment)
    }
  }
  differences.push(...(await judgeOwners(deps, [...open.values()])))
  return { open, differences }
}

/** By how much a payment changed its shard lately: credited, posted, moved. */
function recentChanges(payment: Payment, from: Timestamp) {
  const { netMinor, paidAt = from, postedAt = from, movements } = payment
  const estimatedMinor = estimateOf(payment)?.netMinor ?? netMinor
  return [
    ...(paidAt > from ? [estimatedMinor] : []),
    ...(postedAt > from ? [netMinor - estimatedMinor] : []),
    ...movements.flatMap(({ notedAt }) => (notedAt > from ? [netMinor, negated(netMinor)] : [])),
  ]
}

/** Sums are plain numbers, because tampered figures can exceed the range of money. */
function settledSums({ settlements }: ClientBooks) {
  const sums = {
    netMinor: 0,
    availableMinor: 0,
    writtenOffMinor: 0,
    inSettlementMinor: 0,
    paidOutMinor: 0,
  }
  for (const { settlement } of settlements) {
    const { netMinor, recreditedMinor, status, recreditedAt, totals } = settlement
    sums.netMinor += netMinor - recreditedMinor
    sums.writtenOffMinor += writtenOffIn(totals)
    if (status === 'manual_paid') sums.paidOutMinor += netMinor
    else if (recreditedAt === undefined) sums.inSettlementMinor += netMinor
  }
  return sums
}

export function writtenOffIn(totals: EntrySums['totals']) {
  return totals.reduce((sum, one) => (one.type === 'written_off' ? sum + one.netMinor : sum), 0)
}

/** The clocks of two functions differ by less. */
const SKEW_MS = 5 * MINUTE_MS

/**
 * Fences must be in order, changes by settlements, payouts or re-credits, nothing in the future.
 */
function auditTimes(
  { client, clientId, settlements }: ClientBooks,
  { window, shards }: Ledger,
  now: Timestamp,
) {
  const { settledUntil, closedUntil, changedAt } = window
  const times = changeTimes(settlements)
  // These run concurrently, so the last commit may have an earlier time.
  const isKnownTime = changedAt === undefined ? times.length === 0 : times.includes(changedAt)
  const [earliest, latest] = [addMs(client.createdAt, -DAY_MS), addMs(now, SKEW_MS)]
  const isClosed = isWithin(settledUntil, latest, closedUntil)
  return [
    ...brokenRules('window', clientId, [
      ['closed_until', isClosed, 'from settled_until to now', closedUntil],
      ['changed_at', isKnownTime, 'the time of a settlement, a payout or a re-credit', changedAt],
    ]),
    ...shards.flatMap(({ number, closedUntil: fence, creditedAt: at, creditedMinor }) => {
      const rule = 'from settled_until to closed_until of the window'
      const isPast = at ? isWithin(earliest, latest, at) : creditedMinor === 0
      return brokenRules('ledger_shard', String(number), [
        ['closed_until', isWithin(settledUntil, closedUntil, fence), rule, fence],
        ['credited_at', isPast, 'a past time', at ?? 'none'],
      ])
    }),
  ]
}

function isWithin(from: Timestamp, to: Timestamp, time: Timestamp) {
  return time >= from && time <= to
}

export function changeTimes(settlements: ClientBooks['settlements']) {
  return settlements.flatMap(({ settlement: { createdAt, settledAt, recreditedAt } }) => [
    createdAt,
    settledAt ?? createdAt,
    recreditedAt ?? createdAt,
  ])
}

/** The most keys that one query counts. DynamoDB ends a page at 1 MB. */
const KEYS_COUNTED = 5_000

/**
 * The index lists the payments in each status. Payments that are created or end between the reads
 * of the shards may be listed or not. A second look waits for the longest lag of the index.
 */
export async function auditCounts(deps: JudgeDeps, clientId: ClientId, isAgain: boolean) {
  const before = await readableLedger(deps, clientId)
  if (before === undefined) return []
  if (isAgain) await deps.sleep(deps.stage.indexLagMs ?? LONGEST_LAG_MS)
  const listed = await Promise.all(
    PAYMENT_STATUSES.map(async (status) => {
      const pages = queryPages(deps, {
        index: 'by-status',
        partition: [clientId, 'payment', status],
        limit: KEYS_COUNTED,
        countOnly: true,
      })
      const counts = await Array.fromAsync(pages, ({ count }) => count)
      return [status, counts.reduce((sum, count) => sum + count, 0)] as const
    }),
  )
  const after = await readableLedger(deps, clientId)
  if (after === undefined) return []
  const added = (status: (typeof PAYMENT_STATUSES)[number]) =>
    countOf(after, status) - countOf(before, status)
  const [pending, ...ended] = PAYMENT_STATUSES.map(added)
  const endedCount = ended.reduce((sum, count) => sum + count, 0)
  return listed.flatMap(([status, expected]) => {
    const found = countOf(before, status)
    const [lowest, highest] =
      status === 'pending'
        ? [found - endedCount, found + (pending ?? 0) + endedCount]
        : [found, countOf(after, status)]
    const isBetween = expected >= lowest && expected <= highest
    return onlyIf(!isBetween, compare(`ledger.count_${status}`, clientId, expected, found))
  })
}
