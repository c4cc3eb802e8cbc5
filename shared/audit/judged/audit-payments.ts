import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { EventSchema } from '../../event/read-events.ts'
import {
  type ClientId,
  type DeliveryId,
  deliveryIdFor,
  type EndpointId,
  type EventSubject,
  type PaymentId,
  PaymentIdSchema,
  subjectOfPayment,
} from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { parseEntry } from '../../journal/entry-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { type Item, toItem } from '../../table/attributes.ts'
import { deliveryKey, endpointsPk, entryKey, eventKey, idOf, paymentKey } from '../../table/keys.ts'
import { type KeyedItem, keyedItems, queryAll } from '../../table/list-items.ts'
import { addMs } from '../../time.ts'
import { compare, type Difference, onlyIf, toValue, tryToMake } from '../../verdict/difference.ts'
import { DeliverySchema } from '../../webhook/delivery/delivery.ts'
import { deliveryRow, newDelivery } from '../../webhook/delivery/delivery-store.ts'
import { compareEntries } from './audit-entries.ts'
import { auditEvent, eventNamesOf } from './audit-event.ts'
import { auditMoney, auditOwners, auditPayment } from './audit-payment.ts'
import { type ClientBooks, storedPayment } from './client-books.ts'

type PaymentDifferences = {
  readonly paymentId: PaymentId
  readonly differences: readonly Difference[]
}

/**
 * Compares payments with their events, deliveries and entries. `payment`: undefined if unreadable.
 */
export async function judgePayments(
  deps: StoreDeps,
  { clientId }: Pick<ClientBooks, 'clientId'>,
  items: readonly KeyedItem[],
) {
  const rows = items.map((row) => ({ ...row, payment: storedPayment(row) }))
  const payments = rows.flatMap(({ payment }) => (payment ? [payment] : []))
  const namedEvents = payments.flatMap((payment) =>
    eventNamesOf(payment).map((name) => ({ payment, name })),
  )
  const [events, entries, owners] = await Promise.all([
    deps.table.getMany(
      namedEvents.map(({ payment, name }) => eventKey(subjectOfPayment(payment.paymentId), name)),
    ),
    auditExpectedEntries(deps, payments),
    auditOwners(deps, payments),
  ])
  const storedEvents = namedEvents.map(({ payment }, at) => ({ payment, item: events[at] }))
  const deliveries = await auditDeliveries(deps, clientId, storedEvents)
  const now = deps.now()
  const judgedEvents = namedEvents.map(({ payment, name }, at) => ({
    paymentId: payment.paymentId,
    differences: auditEvent(payment, { name, item: events[at] }, now),
  }))
  const byPayment = Map.groupBy(
    [...judgedEvents, ...entries, ...deliveries],
    ({ paymentId }) => paymentId,
  )
  return rows.map(({ key, item, payment }) => ({
    id: v.parse(PaymentIdSchema, idOf(key.pk)),
    payment,
    differences:
      payment && item
        ? [
            ...auditPayment(payment, item, { clientId, now }),
            ...auditMoney(payment),
            ...(owners.get(payment.paymentId) ?? []),
            ...(byPayment.get(payment.paymentId) ?? []).flatMap(({ differences }) => differences),
          ]
        : compare('payment', idOf(key.pk), 'readable', 'unreadable'),
  }))
}

async function auditExpectedEntries(
  deps: StoreDeps,
  payments: readonly Payment[],
): Promise<readonly PaymentDifferences[]> {
  // Altered figures may form no valid entry; `auditMoney` reports that.
  const expectedEntries = payments.flatMap((payment) =>
    (tryToMake(() => entriesOf(payment)) ?? []).map((entry) => ({ payment, entry })),
  )
  const items = await deps.table.getMany(
    expectedEntries.map(({ payment, entry }) => entryKey(payment.clientId, entry)),
  )
  return expectedEntries.map(({ payment: { paymentId }, entry }, at) => {
    const item = items[at]
    const stored = item && tryToMake(() => parseEntry(item))
    if (item && !stored)
      return { paymentId, differences: compare('entry', entry.entryId, 'readable', 'unreadable') }
    return {
      paymentId,
      differences: compareEntries(entry, stored, `a ${entry.type} of payment ${paymentId}`),
    }
  })
}

type AnnouncedDelivery = {
  readonly paymentId: PaymentId
  readonly event: Event
  readonly endpointId: EndpointId
  readonly deliveryId: DeliveryId
}

/** Compares only deliveries that the events wrote, not those of later redeliveries. */
async function auditDeliveries(
  deps: StoreDeps,
  clientId: ClientId,
  events: readonly { readonly payment: Payment; readonly item: Item | undefined }[],
): Promise<readonly PaymentDifferences[]> {
  // An unreadable event is reported separately.
  const deliveries = events.flatMap(({ payment, item }): readonly AnnouncedDelivery[] => {
    const event = ifValid(EventSchema, item)
    if (event === undefined) return []
    const { eventId, endpointIds } = event
    return endpointIds.map((endpointId) => ({
      paymentId: payment.paymentId,
      event,
      endpointId,
      deliveryId: deliveryIdFor(eventId, endpointId),
    }))
  })
  if (deliveries.length === 0) return []
  // The URL of each endpoint, including deleted endpoints.
  const list = { partition: [endpointsPk(clientId)], limit: 100, fields: ['endpointId', 'url'] }
  const [items, endpoints] = await Promise.all([
    deps.table.getMany(deliveries.map(({ deliveryId }) => deliveryKey(deliveryId))),
    queryAll(deps, list),
  ])
  const urls = new Map(endpoints.map(({ endpointId, url }) => [endpointId, String(url)]))
  const now = deps.now()
  return deliveries.map((delivery, at) => {
    // Later the delivery may be deleted, and a redelivery may have replaced it with other times.
    const mayBeAnother = addMs(delivery.event.firedAt, RETENTION.deliveryMs) <= now
    return {
      paymentId: delivery.paymentId,
      differences: mayBeAnother
        ? []
        : auditDelivery(delivery, items[at], urls.get(delivery.endpointId)),
    }
  })
}

const CHANGING_FIELDS: ReadonlySet<string> = new Set([
  'attempts',
  'round_start',
  'resends',
  'status',
  'ttl',
])

function auditDelivery(
  { paymentId, event, endpointId, deliveryId: id }: AnnouncedDelivery,
  item: Item | undefined,
  url = 'none',
): readonly Difference[] {
  if (item === undefined)
    return compare('delivery', id, `of ${event.name} of payment ${paymentId}`, undefined)
  const delivery = ifValid(DeliverySchema, item)
  if (delivery === undefined) return compare('delivery', id, 'readable', 'unreadable')
  const endpoint = { endpointId, clientId: event.clientId, url, enabled: false }
  const { subject: _, ...fixedFields } = toItem(
    deliveryRow(newDelivery(event, endpoint, event.firedAt)),
  )
  const storedFields = toItem(item)
  const { status, attempts, roundStart, nextAttemptAt } = delivery
  // Fields that change during delivery must be plausible.
  const rules = [
    ['round_start', roundStart < 0 || roundStart > attempts, 'at most its attempts', roundStart],
    [
      'next_attempt_at',
      (status === 'scheduled') !== (nextAttemptAt !== undefined),
      'of one scheduled',
      status,
    ],
    ['attempts', status === 'succeeded' && attempts < 1, 'at least one', attempts],
  ] as const
  return [
    ...compare('delivery.subject', id, toText(event.subject), toText(delivery.subject)),
    ...Object.entries(fixedFields).flatMap(([name, value]) =>
      CHANGING_FIELDS.has(name)
        ? []
        : compare(`delivery.${name}`, id, toValue(value), toValue(storedFields[name])),
    ),
    ...rules.flatMap(([name, isBroken, rule, found]) =>
      onlyIf(isBroken, compare(`delivery.${name}`, id, rule, found)),
    ),
  ]
}

/** The table may return the members of a map in any order. */
function toText(subject: EventSubject | undefined): string | undefined {
  return subject && `${subject.kind} ${subject.id}`
}

export async function judgeById(
  deps: StoreDeps,
  books: Pick<ClientBooks, 'clientId'>,
  ids: readonly PaymentId[],
) {
  const keys = ids.map(paymentKey)
  return judgePayments(deps, books, keyedItems(keys, await deps.table.getMany(keys)))
}
