import type { StoreDeps } from '../../deps.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { EventSchema } from '../../event/read-events.ts'
import { type ClientId, deliveryIdFor, type PaymentId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { Payment } from '../../payment/payment.ts'
import type { Item } from '../../table/attributes.ts'
import { deliveryKey, endpointsPk } from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import type { Reads } from '../../table/table.ts'
import { addMs, DAY_MS, expiresAfter, HOUR_MS, MINUTE_MS, type Timestamp } from '../../time.ts'
import { compare, type Difference, onlyIf, tryToMake } from '../../verdict/difference.ts'
import { type Delivery, DeliverySchema } from '../../webhook/delivery/delivery.ts'
import { deliveryRow, newDelivery } from '../../webhook/delivery/delivery-store.ts'
import { rowDifferences } from './row-differences.ts'
import { ttlOf } from './stored-rows.ts'

export type PaymentDifferences = {
  readonly paymentId: PaymentId
  readonly differences: readonly Difference[]
}

type Announced = {
  readonly paymentId: PaymentId
  readonly event: Event
  readonly endpoint: Parameters<typeof newDelivery>[1]
}

/**
 * Derives the deliveries that the events wrote, not those of later redeliveries, and compares them
 * with what is stored.
 */
export async function judgeDeliveries(
  deps: StoreDeps,
  clientId: ClientId,
  events: readonly { readonly payment: Payment; readonly item: Item | undefined }[],
  reads: Reads,
): Promise<readonly PaymentDifferences[]> {
  const now = deps.now()
  // An unreadable event is a difference of its own. A delivery may be deleted after its retention,
  // and a redelivery may have replaced it.
  const fired = events.flatMap(({ payment: { paymentId }, item }) => {
    const event = ifValid(EventSchema, item)
    const isKept = event && addMs(event.firedAt, RETENTION.deliveryMs) > now
    return isKept ? [{ paymentId, event }] : []
  })
  if (fired.every(({ event }) => event.endpointIds.length === 0)) return []
  // The URL of each endpoint, including deleted endpoints.
  const list = { partition: [endpointsPk(clientId)], limit: 100, fields: ['endpointId', 'url'] }
  const endpoints = await queryAll(deps, list)
  const urls = new Map(endpoints.map(({ endpointId, url }) => [endpointId, String(url)]))
  const announced: readonly Announced[] = fired.flatMap(({ paymentId, event }) =>
    event.endpointIds.map((endpointId) => {
      const url = urls.get(endpointId) ?? 'none'
      return { paymentId, event, endpoint: { endpointId, clientId, url, enabled: false } }
    }),
  )
  const items = await deps.table.getMany(
    announced.map(({ event, endpoint }) =>
      deliveryKey(deliveryIdFor(event.eventId, endpoint.endpointId)),
    ),
    reads,
  )
  return announced.map((one, at) => ({
    paymentId: one.paymentId,
    differences: judgeDelivery(one, items[at], now),
  }))
}

function judgeDelivery(
  { paymentId, event, endpoint }: Announced,
  item: Item | undefined,
  now: Timestamp,
): readonly Difference[] {
  const made = newDelivery(event, endpoint, event.firedAt)
  const { deliveryId: id, eventId, eventName, subject, firedAt } = made
  if (item === undefined)
    return compare('delivery', id, `of ${event.name} of payment ${paymentId}`, undefined)
  const delivery = tryToMake(() => ifValid(DeliverySchema, item))
  if (delivery === undefined) return compare('delivery', id, 'readable', 'unreadable')
  const { endpointId, clientId, url } = endpoint
  // A redelivery makes a missing delivery later than its event.
  const isLater = delivery.createdAt > firedAt && delivery.createdAt <= addMs(now, MINUTE_MS)
  const createdAt = isLater ? delivery.createdAt : made.createdAt
  const fixed = { deliveryId: id, eventId, eventName, subject, createdAt, firedAt }
  const { ttl } = ttlOf(item)
  const whole = { ...delivery, ...fixed, endpointId, clientId, url, ttl, body: undefined }
  return [...rowDifferences('delivery', id, deliveryRow(whole), item), ...deliveryRules(whole, now)]
}

/** What a delivery may be like while it is sent and afterwards. */
function deliveryRules(
  delivery: Delivery & { readonly ttl: number | undefined },
  now: Timestamp,
): readonly Difference[] {
  const { deliveryId: id, status, attempts, roundStart, nextAttemptAt, dueAt, ttl } = delivery
  const isDue = status === 'scheduled'
  const { createdAt, resends } = delivery
  const latest = addMs(now, 7 * HOUR_MS)
  const latestTtl = expiresAfter(addMs(now, DAY_MS), RETENTION.deliveryMs)
  const rules = [
    [
      'round_start',
      roundStart >= 0 && roundStart <= attempts && attempts <= roundStart + 8,
      'at most eight attempts of a round',
      roundStart,
    ],
    ['next_attempt_at', isDue === (nextAttemptAt !== undefined), 'of one scheduled', nextAttemptAt],
    [
      'due_at',
      !isDue || (dueAt !== undefined && dueAt >= createdAt && dueAt <= addMs(latest, DAY_MS)),
      'within a day while it is scheduled',
      dueAt,
    ],
    [
      'next_attempt_at',
      !isDue || ((nextAttemptAt ?? createdAt) >= createdAt && (nextAttemptAt ?? '') <= latest),
      'within six hours',
      nextAttemptAt,
    ],
    ['resends', resends >= 0, 'not below zero', resends],
    ['attempts', status !== 'succeeded' || attempts > 0, 'at least one', attempts],
    ['ttl', isDue === (ttl === undefined) && (ttl ?? 0) <= latestTtl, 'ninety days after', ttl],
  ] as const
  return rules.flatMap(([name, holds, rule, found]) =>
    onlyIf(!holds, compare(`delivery.${name}`, id, rule, found)),
  )
}
