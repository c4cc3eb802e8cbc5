import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, subjectOfPayment } from '../../ids.ts'
import { entryRow } from '../../journal/entry-store.ts'
import { paymentRow, pointerRow } from '../../payment/creating-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import type { Item } from '../../table/attributes.ts'
import {
  destinationKey,
  entryKey,
  eventKey,
  idOf,
  paymentKey,
  referenceKey,
} from '../../table/keys.ts'
import { type KeyedItem, keyedItems } from '../../table/list-items.ts'
import { addMs, DAY_MS, type Timestamp } from '../../time.ts'
import { compare, type Difference, tryToMake } from '../../verdict/difference.ts'
import { type ClientBooks, storedPayment } from './client-books.ts'
import { auditOwners, derivedPayment, paymentRules } from './derive-payment.ts'
import { judgeDeliveries, type PaymentDifferences } from './judge-deliveries.ts'
import { eventNamesOf, judgeEvent } from './judge-events.ts'
import { rowDifferences } from './stored-rows.ts'

/**
 * Derives each payment's rows (itself, its entries, its events and their deliveries) and compares
 * them with what is stored. `payment`: undefined if unreadable.
 */
export async function judgePayments(
  deps: StoreDeps,
  { clientId }: Pick<ClientBooks, 'clientId'>,
  items: readonly KeyedItem[],
) {
  const rows = items.map((row) => ({ ...row, payment: storedPayment(row) }))
  const payments = rows.flatMap(({ payment }) => (payment ? [payment] : []))
  const now = deps.now()
  const [events, entries, pointers, owners] = await Promise.all([
    readEvents(deps, payments),
    judgeEntries(deps, clientId, payments),
    judgePointers(deps, payments, now),
    auditOwners(deps, payments),
  ])
  const judgedEvents = events.map(({ payment, name, item }) => ({
    paymentId: payment.paymentId,
    differences: judgeEvent(payment, { name, item }, { clientId, now }),
  }))
  const deliveries = await judgeDeliveries(deps, clientId, events)
  const byPayment = Map.groupBy(
    [...judgedEvents, ...entries, ...pointers, ...deliveries],
    ({ paymentId }) => paymentId,
  )
  return rows.map(({ key, item, payment }) => ({
    id: v.parse(PaymentIdSchema, idOf(key.pk)),
    payment,
    differences:
      payment && item
        ? [
            ...judgePayment(payment, item, { clientId, now }),
            ...(owners.get(payment.paymentId) ?? []),
            ...(byPayment.get(payment.paymentId) ?? []).flatMap(({ differences }) => differences),
          ]
        : compare('payment', idOf(key.pk), 'readable', 'unreadable'),
  }))
}

export function judgePayment(
  payment: Payment,
  item: Item,
  { clientId, now }: { readonly clientId: ClientId; readonly now: Timestamp },
): readonly Difference[] {
  const { paymentId: id } = payment
  const derived = tryToMake(() => paymentRow(derivedPayment(payment, clientId)))
  return [
    ...(derived
      ? rowDifferences('payment', id, derived, item)
      : compare('payment', id, 'an amount and a channel with a tariff', 'figures of no payment')),
    ...paymentRules(payment, now),
  ]
}

/** Whether the payment's money is what its own facts determine. */
export function isMoneySound(payment: Payment): boolean {
  const derived = tryToMake(() => paymentRow(derivedPayment(payment, payment.clientId)))
  return derived !== undefined && rowDifferences('', '', derived, paymentRow(payment)).length === 0
}

async function readEvents(deps: StoreDeps, payments: readonly Payment[]) {
  const events = payments.flatMap((payment) =>
    eventNamesOf(payment).map((name) => ({ payment, name })),
  )
  const items = await deps.table.getMany(
    events.map(({ payment: { paymentId }, name }) => eventKey(subjectOfPayment(paymentId), name)),
  )
  return events.map((event, at) => ({ ...event, item: items[at] }))
}

/** Altered figures may form no entry; the payment's own row has that difference. */
async function judgeEntries(
  deps: StoreDeps,
  clientId: ClientId,
  payments: readonly Payment[],
): Promise<readonly PaymentDifferences[]> {
  const entries = payments.flatMap((payment) =>
    (tryToMake(() => entriesOf(payment)) ?? []).map((entry) => ({ payment, entry })),
  )
  const items = await deps.table.getMany(entries.map(({ entry }) => entryKey(clientId, entry)))
  return entries.map(({ payment: { paymentId }, entry }, at) => ({
    paymentId,
    differences:
      items[at] === undefined
        ? compare('entry', entry.entryId, `a ${entry.type} of payment ${paymentId}`, 'missing')
        : rowDifferences('entry', entry.entryId, entryRow(entry), items[at]),
  }))
}

/** A pointer is written before its payment becomes visible, so an old one is read eventually. */
async function judgePointers(
  deps: StoreDeps,
  payments: readonly Payment[],
  now: Timestamp,
): Promise<readonly PaymentDifferences[]> {
  const isOld = payments.every(({ createdAt }) => createdAt < addMs(now, -DAY_MS))
  const reads = isOld ? 'eventual' : 'consistent'
  const shown = payments.filter(({ method }) => method === 'virtual_account')
  const referenced = payments.filter(({ externalReference }) => externalReference)
  const [destinations, references] = await Promise.all([
    deps.table.getMany(
      shown.map(({ paymentDestination, createdAt, paymentId }) =>
        destinationKey(paymentDestination, createdAt, paymentId),
      ),
      reads,
    ),
    deps.table.getMany(
      referenced.map(({ clientId, externalReference = '', createdAt, paymentId }) =>
        referenceKey(clientId, externalReference, createdAt, paymentId),
      ),
      reads,
    ),
  ])
  const items = [...destinations, ...references]
  return [...shown, ...referenced].map((payment, at) => ({
    paymentId: payment.paymentId,
    differences: rowDifferences('pointer', payment.paymentId, pointerRow(payment), items[at]),
  }))
}

export async function judgeById(
  deps: StoreDeps,
  books: Pick<ClientBooks, 'clientId'>,
  ids: readonly PaymentId[],
) {
  const keys = ids.map(paymentKey)
  return judgePayments(deps, books, keyedItems(keys, await deps.table.getMany(keys)))
}
