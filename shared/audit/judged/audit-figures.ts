import type { StoreDeps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { standingFigures } from '../../journal/payment-money.ts'
import { entryPages } from '../../journal/read-entries.ts'
import { countOf, creditedOf, type Ledger } from '../../ledger/ledger-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { PAYMENT_STATUSES } from '../../payment-status.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import { idOf, paymentKey } from '../../table/keys.ts'
import { queryPages } from '../../table/list-items.ts'
import { LEDGER_SHARDS } from '../../table/schema.ts'
import { addMs, DAY_MS, later, MINUTE_MS, type Timestamp } from '../../time.ts'
import { compare, compareAll, type Difference, onlyIf } from '../../verdict/difference.ts'
import { auditAdjustments, auditEntries, readingInto } from './audit-entries.ts'
import { type ClientBooks, type JudgeDeps, ownedPayments, storedPayment } from './client-books.ts'
import { auditOwners } from './derive-payment.ts'

/**
 * Compares a client's stored figures with its settlements, open payments and unsettled entries
 * (design section 4).
 */
export async function auditFigures(deps: JudgeDeps, books: ClientBooks) {
  const { clientId, ledger } = books
  const chain = [...books.differences, ...auditChain(books)]
  if (ledger === undefined) return chain
  const { window, shards } = ledger
  const { sums, differences } = await auditUnsettled(deps, books)
  const numbers = new Set(shards.map(({ number }) => number))
  return [
    ...chain,
    ...compare('ledger.credited_minor', clientId, sums.netMinor, creditedOf(ledger)),
    ...compareAll('window', clientId, [
      ['available_minor', sums.recreditedMinor, window.availableMinor],
      ['in_settlement_minor', sums.inSettlementMinor, window.inSettlementMinor],
      ['paid_out_minor', sums.paidOutMinor, window.paidOutMinor],
      ['written_off_minor', sums.writtenOffMinor, window.writtenOffMinor],
    ]),
    ...Array.from({ length: LEDGER_SHARDS }, (_, shard) => shard).flatMap((shard) =>
      onlyIf(!numbers.has(shard), compare('ledger_shard', String(shard), 'present', 'missing')),
    ),
    ...differences,
    ...(await auditAdjustments(deps, books)),
    ...auditTimes(books, ledger, deps.now()),
  ]
}

/** Windows follow one another without a gap, from the client's creation to its settled time. */
export function auditChain(books: ClientBooks): readonly Difference[] {
  const { client, clientId, settlements, unsettled, ledger } = books
  const differences = settlements.flatMap(({ settlement }, at) => {
    const { settlementId: id, sweptFrom, sweptUntil, previousId } = settlement
    const previous = settlements[at - 1]?.settlement
    return compareAll('settlement', id, [
      ['swept_from', previous?.sweptUntil ?? client.createdAt, sweptFrom],
      ['previous_id', previous?.settlementId, previousId],
      ['swept_until', sweptUntil > sweptFrom ? sweptUntil : 'after its start', sweptUntil],
    ])
  })
  if (ledger === undefined) return differences
  const lastId = settlements.at(-1)?.settlement.settlementId
  return [
    ...differences,
    ...compare('window.settled_until', clientId, unsettled.span.start, ledger.window.settledUntil),
    ...compare('window.last_settlement_id', clientId, lastId, ledger.window.lastSettlementId),
  ]
}

/**
 * Compares entries outside all settlements with their sources. Answers the sums with these entries
 * and open payments.
 */
async function auditUnsettled(deps: JudgeDeps, books: ClientBooks) {
  const sums = settledSums(books)
  const differences: Difference[] = []
  const openPayments = new Map<PaymentId | undefined, Payment>()
  for await (const page of ownedPayments(deps, books, 'open')) {
    for (const owned of page) {
      const payment = storedPayment(owned)
      if (payment === undefined)
        differences.push(...compare('payment', idOf(owned.key.pk), 'readable', 'unreadable'))
      // The index may list a payment that is posted already.
      else if (payment.openAt !== undefined) openPayments.set(payment.paymentId, payment)
    }
  }
  const owners = await auditOwners(deps, [...openPayments.values()])
  differences.push(...[...owners.values()].flat())
  const seenPayments = new Set<Payment>()
  const { read, itemOf } = readingInto(differences)
  for await (const { entries } of entryPages(deps, { ...books.unsettled, read })) {
    for (const { type, netMinor, paymentId, carried } of entries) {
      sums.netMinor += netMinor
      sums.recreditedMinor += carried?.netMinor ?? 0
      if (type === 'written_off') sums.writtenOffMinor += netMinor
      const payment = openPayments.get(paymentId)
      if (payment) seenPayments.add(payment)
    }
    differences.push(...(await auditEntries(deps, books, { entries, itemOf })))
  }
  // The sum of the entries already includes payments that were posted meanwhile.
  const items = await deps.table.getMany(
    [...seenPayments].map(({ paymentId }) => paymentKey(paymentId)),
  )
  const postedPayments = new Set(
    [...seenPayments].filter((_, at) => ifValid(PaymentSchema, items[at])?.openAt === undefined),
  )
  for (const payment of openPayments.values()) {
    if (!postedPayments.has(payment)) sums.netMinor += standingFigures(moneyOf(payment)).netMinor
  }
  return { sums, differences }
}

/** Sums are plain numbers, because tampered figures can exceed the range of money. */
function settledSums({ settlements }: ClientBooks) {
  const sums = {
    netMinor: 0,
    recreditedMinor: 0,
    writtenOffMinor: 0,
    inSettlementMinor: 0,
    paidOutMinor: 0,
  }
  for (const { settlement } of settlements) {
    const { netMinor, recreditedMinor, status, recreditedAt, totals } = settlement
    sums.netMinor += netMinor - recreditedMinor
    for (const total of totals)
      if (total.type === 'written_off') sums.writtenOffMinor += total.netMinor
    if (status === 'manual_paid') sums.paidOutMinor += netMinor
    else if (recreditedAt === undefined) sums.inSettlementMinor += netMinor
  }
  return sums
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
  const isUnknownTime = changedAt === undefined ? times.length > 0 : !times.includes(changedAt)
  const [earliest, latest] = [addMs(client.createdAt, -DAY_MS), addMs(now, SKEW_MS)]
  const latestFence = later(latest, addMs(settledUntil, SKEW_MS))
  return [
    ...compareAll('window', clientId, [
      [
        'closed_until',
        timeWithin(settledUntil, latestFence, closedUntil) ?? 'from settled_until to now',
        closedUntil,
      ],
      [
        'changed_at',
        isUnknownTime ? 'the time of a settlement, a payout or a re-credit' : changedAt,
        changedAt,
      ],
    ]),
    ...shards.flatMap(({ number, closedUntil: fence, creditedAt: at, creditedMinor }) => {
      const rule = 'from settled_until to closed_until of the window'
      const isPast = at ? timeWithin(earliest, latest, at) !== undefined : creditedMinor === 0
      const credited = at ?? 'none'
      return compareAll('ledger_shard', String(number), [
        ['closed_until', timeWithin(settledUntil, closedUntil, fence) ?? rule, fence],
        ['credited_at', isPast ? credited : 'a past time', credited],
      ])
    }),
  ]
}

export function changeTimes(settlements: ClientBooks['settlements']): readonly Timestamp[] {
  return settlements.flatMap(({ settlement: { createdAt, settledAt, recreditedAt } }) => [
    createdAt,
    settledAt ?? createdAt,
    recreditedAt ?? createdAt,
  ])
}

function timeWithin(from: Timestamp, to: Timestamp, time: Timestamp) {
  return time < from || time > to ? undefined : time
}

/** The most keys that one query counts. DynamoDB ends a page at 1 MB. */
const KEYS_COUNTED = 5_000

/** The index lists the payments in each status. */
export async function auditCounts(deps: StoreDeps, { clientId, ledger }: ClientBooks) {
  if (ledger === undefined) return []
  const differences = await Promise.all(
    PAYMENT_STATUSES.map(async (status) => {
      const pages = queryPages(deps, {
        index: 'by-status',
        partition: [clientId, 'payment', status],
        limit: KEYS_COUNTED,
        countOnly: true,
      })
      const counts = await Array.fromAsync(pages, ({ count }) => count)
      const expected = counts.reduce((sum, count) => sum + count, 0)
      return compare(`ledger.count_${status}`, clientId, expected, countOf(ledger, status))
    }),
  )
  return differences.flat()
}
