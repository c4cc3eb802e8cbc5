import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { EventSchema } from '../../event/read-events.ts'
import {
  type ClientId,
  type DeliveryId,
  deliveryIdFor,
  type EndpointId,
  type PaymentId,
  PaymentIdSchema,
} from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { parseEntry } from '../../journal/entry-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { type Item, toItem } from '../../table/attributes.ts'
import { deliveryKey, endpointsPk, entryKey, eventKey, idOf, paymentKey } from '../../table/keys.ts'
import { type KeyedItem, keyedItems, queryAll } from '../../table/list-items.ts'
import { addMs, type Timestamp } from '../../time.ts'
import { type Difference, differs, madeOf, shown, when } from '../../verdict/difference.ts'
import { type Delivery, DeliverySchema } from '../../webhook/delivery/delivery.ts'
import { deliveryItem, newDelivery } from '../../webhook/delivery/delivery-store.ts'
import { compareEntries } from './audit-entries.ts'
import { auditEvent, eventNamesOf } from './audit-event.ts'
import { auditMoney, auditPayment } from './audit-payment.ts'
import { type ClientBooks, storedPayment } from './client-books.ts'

type OfPayment = { readonly paymentId: PaymentId; readonly differences: readonly Difference[] }

/** Every event that the payments must have written, with its item. */
const eventsOf = async (deps: StoreDeps, payments: readonly Payment[]) => {
  const named = payments.flatMap((payment) => eventNamesOf(payment).map((name) => ({ payment, name })))
  const items = await deps.table.getMany(named.map(({ payment, name }) => eventKey(payment.paymentId, name)))
  return named.map((one, at) => ({ ...one, item: items[at] }))
}

/** Compares each entry that a payment must have with the one under its key. */
const auditExpectedEntries = async (deps: StoreDeps, payments: readonly Payment[]): Promise<readonly OfPayment[]> => {
  const wanted = payments.flatMap((payment) => expectedEntries(payment).map((entry) => ({ payment, entry })))
  const items = await deps.table.getMany(wanted.map(({ payment, entry }) => entryKey(payment, entry)))
  return wanted.map(({ payment: { paymentId }, entry }, at) => {
    const item = items[at]
    const stored = item && madeOf(() => parseEntry(item))
    if (stored) return { paymentId, differences: compareEntries(entry, stored) }
    const expected = item ? 'readable' : `a ${entry.type} of payment ${paymentId}`
    return { paymentId, differences: differs('entry', entry.entryId, expected, item ? 'unreadable' : 'missing') }
  })
}

/** Altered figures may form no valid entry; `auditMoney` reports that. */
const expectedEntries = (payment: Payment) => madeOf(() => entriesOf(payment)) ?? []

/**
 * Compares payments with themselves, their events, the deliveries of these, and their entries. `payment`: undefined when
 * it cannot be parsed.
 */
export const judgePayments = async (
  deps: StoreDeps,
  { clientId }: Pick<ClientBooks, 'clientId'>,
  found: readonly KeyedItem[],
) => {
  const read = found.map((one) => ({ ...one, payment: storedPayment(one) }))
  const payments = read.flatMap(({ payment }) => (payment ? [payment] : []))
  const [events, entries] = await Promise.all([eventsOf(deps, payments), auditExpectedEntries(deps, payments)])
  const deliveries = await auditDeliveries(deps, clientId, events)
  const now = deps.now()
  const judgedEvents = events.map(({ payment, ...event }) => ({
    paymentId: payment.paymentId,
    differences: auditEvent(payment, event, now),
  }))
  const parts = Map.groupBy([...judgedEvents, ...entries, ...deliveries], ({ paymentId }) => paymentId)
  return read.map(({ key, item, payment }) => ({
    id: v.parse(PaymentIdSchema, idOf(key.pk)),
    payment,
    differences:
      payment && item
        ? [
            ...auditPayment(payment, item, { clientId, now }),
            ...auditMoney(payment),
            ...(parts.get(payment.paymentId) ?? []).flatMap(({ differences }) => differences),
          ]
        : differs('payment', idOf(key.pk), 'readable', 'unreadable'),
  }))
}

export const judgeById = async (deps: StoreDeps, books: Pick<ClientBooks, 'clientId'>, ids: readonly PaymentId[]) => {
  const keys = ids.map(paymentKey)
  return judgePayments(deps, books, keyedItems(keys, await deps.table.getMany(keys)))
}

type Announced = { readonly event: Event; readonly endpointId: EndpointId; readonly deliveryId: DeliveryId }

/** The deliveries that each event names. An unreadable event is reported separately. */
const announcedBy = (events: readonly { readonly item: Item | undefined }[]): readonly Announced[] =>
  events.flatMap(({ item }) => {
    const event = ifValid(EventSchema, item)
    if (event === undefined) return []
    const { eventId, endpointIds } = event
    return endpointIds.map((endpointId) => ({ event, endpointId, deliveryId: deliveryIdFor(eventId, endpointId) }))
  })

const ENDPOINTS_PAGE = 100

/** The place of each endpoint, including deleted ones. */
const urlsOf = async (deps: StoreDeps, clientId: ClientId): Promise<ReadonlyMap<unknown, string>> => {
  const fields = ['endpointId', 'url']
  const items = await queryAll(deps, { partition: [endpointsPk(clientId)], limit: ENDPOINTS_PAGE, fields })
  return new Map(items.map(({ endpointId, url }) => [endpointId, String(url)]))
}

/** Later a delivery may be deleted, and one that a redelivery made in its place has other times. */
const mayBeAnother = ({ firedAt }: Event, now: Timestamp): boolean => addMs(firedAt, RETENTION.deliveryMs) <= now

/** Fields that deliveries and redeliveries change. */
const CHANGING: ReadonlySet<string> = new Set(['attempts', 'round_start', 'resends', 'status', 'ttl'])

/** Compares the other fields with those that the event's transaction wrote. */
const auditFixed = ({ event, endpointId, deliveryId: id }: Announced, item: Item, url: string) => {
  const endpoint = { endpointId, clientId: event.clientId, url, enabled: false }
  const fixed = toItem(deliveryItem(newDelivery(event, endpoint, event.firedAt)))
  const stored = toItem(item)
  return Object.entries(fixed).flatMap(([name, value]) =>
    CHANGING.has(name) ? [] : differs(`delivery.${name}`, id, shown(value), shown(stored[name])),
  )
}

/** Fields that change during delivery are checked for plausibility. */
const auditState = ({ deliveryId: id, ...delivery }: Delivery): readonly Difference[] => {
  const { status, attempts, roundStart, nextAttemptAt } = delivery
  const isScheduled = status === 'scheduled'
  const rules = [
    ['round_start', roundStart < 0 || roundStart > attempts, 'at most its attempts', roundStart],
    ['next_attempt_at', isScheduled !== (nextAttemptAt !== undefined), 'of one scheduled', status],
    ['attempts', status === 'succeeded' && attempts < 1, 'at least one', attempts],
  ] as const
  return rules.flatMap(([name, isBroken, rule, found]) => when(isBroken, differs(`delivery.${name}`, id, rule, found)))
}

/** Compares a delivery that its event's transaction wrote with the event and the endpoint. */
const auditDelivery = (announced: Announced, item: Item | undefined, url = 'none'): readonly Difference[] => {
  const { event, deliveryId: id } = announced
  if (item === undefined) return differs('delivery', id, `of ${event.name} of payment ${event.paymentId}`, undefined)
  const delivery = ifValid(DeliverySchema, item)
  if (delivery === undefined) return differs('delivery', id, 'readable', 'unreadable')
  return [...auditFixed(announced, item, url), ...auditState(delivery)]
}

/** Reads the deliveries strongly consistently. Those that a redelivery made later are not included. */
const auditDeliveries = async (
  deps: StoreDeps,
  clientId: ClientId,
  events: Parameters<typeof announcedBy>[0],
): Promise<readonly OfPayment[]> => {
  const announced = announcedBy(events)
  const [items, urls] = await Promise.all([
    deps.table.getMany(announced.map(({ deliveryId }) => deliveryKey(deliveryId))),
    announced.length === 0 ? new Map<unknown, string>() : urlsOf(deps, clientId),
  ])
  const now = deps.now()
  return announced.map((one, at) => {
    const { event, endpointId } = one
    const differences = mayBeAnother(event, now) ? [] : auditDelivery(one, items[at], urls.get(endpointId))
    return { paymentId: event.paymentId, differences }
  })
}
