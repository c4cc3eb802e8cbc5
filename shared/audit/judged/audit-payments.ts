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
import { parseEntry } from '../../journal/entry-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { type Item, toItem } from '../../table/attributes.ts'
import { deliveryKey, endpointsPk, entryKey, eventKey, idOf, paymentKey } from '../../table/keys.ts'
import { queryPages } from '../../table/list-items.ts'
import { addMs, type Timestamp } from '../../time.ts'
import { type Difference, differs, madeOf, shown, when } from '../../verdict/difference.ts'
import { type Delivery, DeliverySchema } from '../../webhook/delivery/delivery.ts'
import { DELIVERY_ENTITY } from '../../webhook/delivery/delivery-store.ts'
import { compareEntries } from './audit-entries.ts'
import { auditEvent, eventNamesOf } from './audit-event.ts'
import { auditMoney, auditPayment } from './audit-payment.ts'
import type { ClientBooks, OwnedItem } from './client-books.ts'

const parsedPayment = ({ key, item }: OwnedItem): Payment | undefined => {
  const parsed = v.safeParse(PaymentSchema, item)
  return parsed.success && paymentKey(parsed.output.paymentId).pk === key.pk ? parsed.output : undefined
}

/** Every event that the payments must have written, with its item. */
const eventsOf = async (deps: StoreDeps, payments: readonly Payment[]) => {
  const named = payments.flatMap((payment) => eventNamesOf(payment).map((name) => ({ payment, name })))
  const items = await deps.table.getMany(named.map(({ payment, name }) => eventKey(payment.paymentId, name)))
  return Map.groupBy(
    named.map((one, at) => ({ ...one, item: items[at] })),
    ({ payment }) => payment.paymentId,
  )
}

/** Each entry that a payment must have, as it is stored under its key. */
const entryDifferences = async (deps: StoreDeps, payments: readonly Payment[]) => {
  const wanted = payments.flatMap((payment) => expectedEntries(payment).map((entry) => ({ payment, entry })))
  const items = await deps.table.getMany(wanted.map(({ payment, entry }) => entryKey(payment, entry)))
  const found = new Map<PaymentId, readonly Difference[]>()
  for (const [at, { payment, entry }] of wanted.entries()) {
    const item = items[at]
    const stored = item && madeOf(() => parseEntry(item))
    const differences = stored
      ? compareEntries(entry, stored)
      : item === undefined
        ? differs('entry', entry.entryId, `a ${entry.type} of payment ${payment.paymentId}`, 'not there')
        : differs('entry', entry.entryId, 'readable', 'unreadable')
    found.set(payment.paymentId, [...(found.get(payment.paymentId) ?? []), ...differences])
  }
  return found
}

/** Altered figures may form no valid entry; `auditMoney` reports that. */
const expectedEntries = (payment: Payment) => madeOf(() => entriesOf(payment)) ?? []

export type JudgedPayment = {
  readonly id: PaymentId
  readonly item: Item | undefined
  /** Undefined when it cannot be parsed. */
  readonly payment: Payment | undefined
  /** All its differences, with its events, their deliveries and its entries. */
  readonly differences: readonly Difference[]
}

/** Compares payments with their events, their entries and themselves. */
export const judgePayments = async (
  deps: StoreDeps,
  { clientId }: Pick<ClientBooks, 'clientId'>,
  found: readonly OwnedItem[],
): Promise<readonly JudgedPayment[]> => {
  const read = found.map((one) => ({ ...one, payment: parsedPayment(one) }))
  const payments = read.flatMap(({ payment }) => (payment ? [payment] : []))
  const [events, entries] = await Promise.all([eventsOf(deps, payments), entryDifferences(deps, payments)])
  const eventItems = [...events.values()].flat().flatMap(({ item }) => (item ? [item] : []))
  const deliveries = await auditDeliveries(deps, clientId, eventItems)
  const now = deps.now()
  return read.map(({ key, item, payment }) => ({
    id: v.parse(PaymentIdSchema, idOf(key.pk)),
    item,
    payment,
    differences:
      payment && item
        ? [
            ...auditPayment(payment, item, { clientId, now }),
            ...auditMoney(payment),
            ...(events.get(payment.paymentId) ?? []).flatMap((event) => auditEvent(payment, event, now)),
            ...(entries.get(payment.paymentId) ?? []),
            ...(deliveries.get(payment.paymentId) ?? []),
          ]
        : differs('payment', idOf(key.pk), 'readable', 'unreadable'),
  }))
}

export const judgeById = async (deps: StoreDeps, books: Pick<ClientBooks, 'clientId'>, ids: readonly PaymentId[]) => {
  const keys = ids.map(paymentKey)
  const items = await deps.table.getMany(keys)
  return judgePayments(
    deps,
    books,
    keys.map((key, at) => ({ key, item: items[at] })),
  )
}

type Told = { readonly event: Event; readonly endpointId: EndpointId; readonly deliveryId: DeliveryId }

/** The endpoints that these events' transactions told. An unreadable event is reported separately. */
const toldBy = (items: readonly Item[]): readonly Told[] =>
  items.flatMap((item) => {
    const { success, output: event } = v.safeParse(EventSchema, item)
    if (!success) return []
    return event.endpointIds.map((endpointId) => {
      const deliveryId = deliveryIdFor(event.eventId, endpointId)
      return { event, endpointId, deliveryId }
    })
  })

const ENDPOINTS_PAGE = 100

/** The place of each endpoint, including deleted ones. */
const urlsOf = async (deps: StoreDeps, clientId: ClientId): Promise<ReadonlyMap<unknown, unknown>> => {
  const urls = new Map<unknown, unknown>()
  const fields = ['endpointId', 'url']
  for await (const items of queryPages(deps, { partition: [endpointsPk(clientId)], limit: ENDPOINTS_PAGE, fields })) {
    for (const { endpointId, url } of items) urls.set(endpointId, url)
  }
  return urls
}

/** Later a delivery may be deleted, and one that a redelivery made in its place has other times. */
const mayBeAnother = ({ firedAt }: Event, now: Timestamp): boolean => addMs(firedAt, RETENTION.deliveryMs) <= now

const auditFixed = ({ event, endpointId, deliveryId: id }: Told, item: Item): readonly Difference[] => {
  const fixed = toItem({
    deliveryId: id,
    eventId: event.eventId,
    eventName: event.name,
    paymentId: event.paymentId,
    clientId: event.clientId,
    endpointId,
    firedAt: event.firedAt,
    createdAt: event.firedAt,
    listedAt: event.firedAt,
    owner: endpointId,
    entity: DELIVERY_ENTITY,
    id,
  })
  const stored = toItem(item)
  return Object.entries(fixed).flatMap(([name, value]) =>
    differs(`delivery.${name}`, id, shown(value), shown(stored[name])),
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

/**
 * Compares each delivery that these events' transactions wrote with its event and its endpoint, by payment. Strongly
 * consistent. Deliveries that a redelivery made later are not included.
 */
export const auditDeliveries = async (deps: StoreDeps, clientId: ClientId, events: readonly Item[]) => {
  const told = toldBy(events)
  const [items, urls] = await Promise.all([
    deps.table.getMany(told.map(({ deliveryId }) => deliveryKey(deliveryId))),
    told.length === 0 ? new Map() : urlsOf(deps, clientId),
  ])
  const now = deps.now()
  const judged = told.map((one, at) => {
    const { event, endpointId, deliveryId: id } = one
    const item = items[at]
    if (mayBeAnother(event, now)) return []
    if (item === undefined) return differs('delivery', id, `of ${event.name} of payment ${event.paymentId}`, undefined)
    const { success, output } = v.safeParse(DeliverySchema, item)
    if (!success) return differs('delivery', id, 'readable', 'unreadable')
    const url = shown(urls.get(endpointId))
    return [...auditFixed(one, item), ...auditState(output), ...differs('delivery.url', id, url, output.url)]
  })
  const found = new Map<PaymentId, readonly Difference[]>()
  for (const [at, { event }] of told.entries()) {
    found.set(event.paymentId, [...(found.get(event.paymentId) ?? []), ...(judged[at] ?? [])])
  }
  return found
}
