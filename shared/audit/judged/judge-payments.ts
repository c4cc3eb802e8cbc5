import * as v from 'valibot'
import type { Deps, StoreDeps } from '../../deps.ts'
import { type ClientId, type PaymentId, subjectOfPayment } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { paymentRow, pointerRow } from '../../payment/creating-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import type { Item } from '../../table/attributes.ts'
import { destinationKey, eventKey, idOf, referenceKey, rowKeysOf } from '../../table/keys.ts'
import { type KeyedItem, keyedItems, queryPages } from '../../table/list-items.ts'
import type { Reads } from '../../table/table.ts'
import { addMs } from '../../time.ts'
import {
  compare,
  confirmedDifferences,
  type Difference,
  tryToMake,
  unreadableRow,
} from '../../verdict/difference.ts'
import { type EntryReads, judgeEntries } from '../rows/judge-entries.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { auditEvent, auditStrayEvents, eventNamesOf } from './audit-events.ts'
import { OLD_MS } from './client-books.ts'
import { derivedPayment, judgeOwners, paymentRules } from './derive-payment.ts'
import { judgeDeliveries } from './judge-deliveries.ts'
import { judgeShown } from './judge-shown.ts'

/**
 * Derives each payment's rows (itself, its entries, its events and their deliveries) and compares
 * them with what is stored. `payments`: the readable ones.
 */
export async function judgePayments(
  deps: StoreDeps,
  clientId: ClientId,
  items: readonly KeyedItem[],
  reads: Reads = 'consistent',
) {
  // A row that was moved or copied to another sort key is no payment.
  const rows = items.map(({ key, item }) => {
    return { key, item, payment: ifValid(PaymentSchema, key.sk === 'PAYMENT' && item) }
  })
  const readable = rows.flatMap(({ item, payment }) => (item && payment ? [{ item, payment }] : []))
  const payments = readable.map(({ payment }) => payment)
  const [{ events, differences }, ...others] = await Promise.all([
    judgeOwn(deps, clientId, readable, { reads, eventReads: reads }),
    judgePointers(deps, payments, reads),
    judgeShown(deps, payments, reads),
  ])
  const unreadable = rows.flatMap(({ key, payment }) =>
    payment ? [] : unreadableRow('payment', idOf(key.pk)),
  )
  const announced = events.map(({ payment: { paymentId }, item }) => {
    return { subject: subjectOfPayment(paymentId), item }
  })
  const deliveries = await judgeDeliveries(deps, clientId, announced, reads)
  return { payments, differences: [unreadable, differences, ...others, deliveries].flat() }
}

type OwnReads = EntryReads & { readonly eventReads?: Reads | undefined }

/** Judges payments by their own facts, by their entries and, with `eventReads`, by their events. */
export async function judgeOwn(
  deps: StoreDeps,
  clientId: ClientId,
  rows: readonly { readonly payment: Payment; readonly item: Item }[],
  { eventReads, ...entryReads }: OwnReads,
) {
  const payments = rows.map(({ payment }) => payment)
  const now = deps.now()
  const [owners, entries, events] = await Promise.all([
    judgeOwners(deps, payments),
    judgeEntries(deps, clientId, payments, entryReads),
    eventReads ? readEvents(deps, payments, eventReads) : [],
  ])
  return {
    events,
    differences: [
      ...owners,
      ...rows.flatMap(({ payment, item }) => {
        const { paymentId: id } = payment
        const derived = tryToMake(() => paymentRow(derivedPayment(payment, clientId)))
        return [
          ...(derived
            ? rowDifferences('payment', id, derived, item)
            : compare(
                'payment',
                id,
                'an amount and a channel with a tariff',
                'figures of no payment',
              )),
          ...paymentRules(payment, now),
        ]
      }),
      ...events.flatMap(({ payment, ...event }) => auditEvent(payment, event, { clientId, now })),
      ...entries,
    ],
  }
}

async function readEvents(deps: StoreDeps, payments: readonly Payment[], reads: Reads) {
  const named = payments.flatMap((payment) =>
    eventNamesOf(payment).map((name) => ({ payment, name })),
  )
  const items = await deps.table.getMany(
    named.map(({ payment: { paymentId }, name }) => eventKey(subjectOfPayment(paymentId), name)),
    reads,
  )
  return named.map((event, at) => ({ ...event, item: items[at] }))
}

async function judgePointers(deps: StoreDeps, payments: readonly Payment[], reads: Reads) {
  const named = payments.flatMap((payment) => pointerKeys(payment).map(() => payment))
  const items = await deps.table.getMany(payments.flatMap(pointerKeys), reads)
  return named.flatMap((payment, at) =>
    rowDifferences('pointer', payment.paymentId, pointerRow(payment), items[at]),
  )
}

function pointerKeys(payment: Payment) {
  const { method, paymentId, clientId, createdAt, externalReference } = payment
  return [
    ...(method === 'virtual_account'
      ? [destinationKey(payment.paymentDestination, createdAt, paymentId)]
      : []),
    ...(externalReference ? [referenceKey(clientId, externalReference, createdAt, paymentId)] : []),
  ]
}

const PAGE = 500

const State = v.object({ cursor: v.record(v.string(), v.unknown()) })

/** So many events of a span are known by their payments. Payments of others are read again. */
const MAX_EXPLAINED = 100_000

/**
 * Judges the payments that are listed in a span, with all their rows, and then the events of the
 * span. Old rows are read eventually, and a page with a difference is judged again. `state`:
 * `isOver` ended the run before the last page.
 */
export async function judgeListed(
  deps: StoreDeps & Pick<Deps, 'sleep'>,
  clientId: ClientId,
  {
    span,
    state,
    isOver,
  }: {
    readonly span: readonly [string, string]
    readonly state: unknown
    readonly isOver: () => boolean
  },
) {
  const firstReads = span[1] < addMs(deps.now(), -OLD_MS) ? 'eventual' : 'consistent'
  const differences: Difference[] = []
  const explained = new Set<string>()
  const pages = queryPages(deps, {
    index: 'by-owner',
    partition: [clientId, 'payment'],
    range: { between: span },
    limit: PAGE,
    cursor: ifValid(State, state)?.cursor,
  })
  for await (const { items, cursor } of pages) {
    const keys = rowKeysOf('PAYMENT', items)
    let payments: readonly Payment[] = []
    const judge = async (reads: Reads) => {
      const rows = keyedItems(keys, await deps.table.getMany(keys, reads))
      const judged = await judgePayments(deps, clientId, rows, reads)
      payments = judged.payments
      return judged.differences
    }
    // A read may see half of a transaction, so the page is judged again at once and later.
    if ((await judge(firstReads)).length > 0)
      differences.push(...(await confirmedDifferences(deps, () => judge('consistent'))))
    for (const payment of explained.size > MAX_EXPLAINED ? [] : payments)
      for (const name of eventNamesOf(payment)) explained.add(`${payment.paymentId} ${name}`)
    if (cursor && isOver()) return { differences, state: { cursor } }
  }
  const isExplained = (id: PaymentId, name: string) => explained.has(`${id} ${name}`)
  return {
    differences: [...differences, ...(await auditStrayEvents(deps, clientId, span, isExplained))],
  }
}
