import type { StoreDeps } from '../../deps.ts'
import { type Event, RETENTION } from '../../event/event.ts'
import { EventSchema } from '../../event/read-events.ts'
import { type ClientId, deliveryIdFor, type EventSubject } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { Item } from '../../table/attributes.ts'
import { attemptKey, deliveryKey, endpointsPk } from '../../table/keys.ts'
import { queryAll } from '../../table/list-items.ts'
import type { Reads } from '../../table/table.ts'
import { addMs, DAY_MS, expiresAfter, HOUR_MS, MINUTE_MS, type Timestamp } from '../../time.ts'
import { brokenRules, compare, tryToMake, unreadableRow } from '../../verdict/difference.ts'
import {
  type Delivery,
  type DeliveryAttempt,
  DeliveryAttemptSchema,
  DeliverySchema,
} from '../../webhook/delivery/delivery.ts'
import { deliveryRow, newDelivery } from '../../webhook/delivery/delivery-store.ts'
import { ROUNDS_A_DAY } from '../../webhook/delivery/round-store.ts'
import { attemptRow, retentionFrom } from '../../webhook/send/attempt-store.ts'
import { keyedDifferences, rowDifferences, ttlOf } from '../rows/row-differences.ts'

type Announced = {
  readonly subject: EventSubject
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
  events: readonly { readonly subject: EventSubject; readonly item: Item | undefined }[],
  reads: Reads,
) {
  const now = deps.now()
  // An unreadable event is a difference of its own. A delivery may be deleted after its retention,
  // and a redelivery may have replaced it.
  const fired = events.flatMap(({ subject, item }) => {
    const event = ifValid(EventSchema, item)
    const isKept = event && addMs(event.firedAt, RETENTION.deliveryMs) > now
    return isKept ? [{ subject, event }] : []
  })
  if (fired.every(({ event }) => event.endpointIds.length === 0)) return []
  // The URL of each endpoint, including deleted endpoints.
  const list = { partition: [endpointsPk(clientId)], limit: 100, fields: ['endpointId', 'url'] }
  const endpoints = await queryAll(deps, list)
  const urls = new Map(endpoints.map(({ endpointId, url }) => [endpointId, String(url)]))
  const announced: readonly Announced[] = fired.flatMap(({ subject, event }) =>
    event.endpointIds.map((endpointId) => {
      const url = urls.get(endpointId) ?? 'none'
      return { subject, event, endpoint: { endpointId, clientId, url, enabled: false } }
    }),
  )
  const keys = announced.map(({ event, endpoint: { endpointId } }) =>
    deliveryKey(deliveryIdFor(event.eventId, endpointId)),
  )
  const items = await deps.table.getMany(keys, reads)
  return [
    ...announced.flatMap((one, at) => auditDelivery(one, items[at], now)),
    ...(await auditAttempts(deps, items, reads)),
  ]
}

function auditDelivery(
  { subject: { kind, id: subjectId }, event, endpoint }: Announced,
  item: Item | undefined,
  now: Timestamp,
) {
  const made = newDelivery(event, endpoint, event.firedAt)
  const { deliveryId: id, eventId, eventName, subject, firedAt } = made
  if (item === undefined)
    return compare('delivery', id, `of ${event.name} of ${kind} ${subjectId}`, undefined)
  const delivery = tryToMake(() => ifValid(DeliverySchema, item))
  if (delivery === undefined) return unreadableRow('delivery', id)
  const { endpointId, clientId, url } = endpoint
  // A redelivery makes a missing delivery later than its event.
  const isLater = delivery.createdAt > firedAt && delivery.createdAt <= addMs(now, MINUTE_MS)
  const createdAt = isLater ? delivery.createdAt : made.createdAt
  const fixed = { deliveryId: id, eventId, eventName, subject, createdAt, firedAt }
  const { ttl } = ttlOf(item)
  const whole = { ...delivery, ...fixed, endpointId, clientId, url, ttl, body: undefined }
  return [...rowDifferences('delivery', id, deliveryRow(whole), item), ...deliveryRules(whole, now)]
}

const JUDGED_ATTEMPTS = 8

/**
 * The newest stored attempts of deliveries. A first attempt that succeeded has no row, so few
 * deliveries have any. A lost one is no difference: no repair could make it again.
 */
async function auditAttempts(deps: StoreDeps, items: readonly (Item | undefined)[], reads: Reads) {
  const deliveries = items.flatMap((item) => tryToMake(() => ifValid(DeliverySchema, item)) ?? [])
  const counted = deliveries.flatMap(({ deliveryId, createdAt, attempts, success }) => {
    const length = Math.max(0, Math.min(JUDGED_ATTEMPTS, attempts - (success ? 1 : 0)))
    return Array.from({ length }, (_, at) => ({ deliveryId, createdAt, number: attempts - at }))
  })
  const rows = await deps.table.getMany(
    counted.map(({ deliveryId, number }) => attemptKey(deliveryId, number)),
    reads,
  )
  return counted.flatMap(({ deliveryId: id, createdAt }, at) => {
    const row = rows[at]
    if (row === undefined) return []
    const attempt = ifValid(DeliveryAttemptSchema, row)
    if (attempt === undefined) return unreadableRow('attempt', id)
    const key = attemptKey(id, attempt.number)
    return [
      ...keyedDifferences('attempt', id, { key, row: attemptRow(attempt) }, row),
      ...attemptRules('attempt', id, attempt, { createdAt, now: deps.now() }),
    ]
  })
}

/** What the worker writes of an attempt: when, how long, and an answer or an error. */
function attemptRules(
  kind: string,
  id: string,
  { at, durationMs, httpStatus, error }: DeliveryAttempt,
  { createdAt, now }: { readonly createdAt: Timestamp; readonly now: Timestamp },
) {
  const isAnswered = httpStatus !== undefined && httpStatus >= 100 && httpStatus <= 599
  const isAccepted = isAnswered && httpStatus >= 200 && httpStatus <= 299
  const isTold = error === 'http_status' ? isAnswered && !isAccepted : error !== undefined
  const isPast = at >= addMs(createdAt, -MINUTE_MS) && at <= addMs(now, MINUTE_MS)
  return brokenRules(kind, id, [
    ['at', isPast, 'after its delivery began', at],
    ['duration_ms', durationMs >= 0, 'not below zero', durationMs],
    ['error', isTold || (isAccepted && error === undefined), 'of its answer', error],
  ])
}

/** What a delivery may be like while it is sent and afterwards. */
function deliveryRules(delivery: Delivery & { readonly ttl: number | undefined }, now: Timestamp) {
  const { deliveryId: id, status, attempts, roundStart, nextAttemptAt, dueAt, ttl } = delivery
  const isDue = status === 'scheduled'
  const { createdAt, resends, success, rounds = 0, roundsOn, claimToken, claimedUntil } = delivery
  // The clock of the worker that wrote the row may be ahead.
  const soon = addMs(now, MINUTE_MS)
  const latest = addMs(now, 7 * HOUR_MS)
  const latestTtl = expiresAfter(addMs(now, DAY_MS), RETENTION.deliveryMs)
  const isOnce = success !== undefined && status === 'succeeded' && attempts === 1
  const isCounted = success && roundStart === 0 ? isOnce : status !== 'succeeded' || attempts > 0
  const ofDelivery = brokenRules('delivery', id, [
    [
      'round_start',
      (roundStart === 0 || (roundStart > 0 && roundsOn !== undefined)) &&
        roundStart <= attempts &&
        attempts <= roundStart + 8,
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
    ['claim_token', !claimToken === !claimedUntil, 'with the end of its claim', claimToken],
    ['claimed_until', !claimedUntil || (isDue && claimedUntil <= soon), 'soon', claimedUntil],
    ['rounds', rounds >= 0 && rounds <= ROUNDS_A_DAY, 'at most ten on a day', rounds],
    ['rounds_on', (roundsOn ?? '') <= soon.slice(0, 10), 'no later day', roundsOn],
    ['attempts', isCounted, 'at least one, and no second after its first success', attempts],
    [
      'attempts',
      !isDue || roundsOn !== undefined || (attempts === 0) === (nextAttemptAt === createdAt),
      'none until its second attempt has a time',
      attempts,
    ],
    ['success', success === undefined || success.number === 1, 'the first', success?.number],
    ['ttl', isDue === (ttl === undefined) && (ttl ?? 0) <= latestTtl, 'ninety days after', ttl],
    ['ttl', !isOnce || ttl === retentionFrom(success).ttl, 'ninety days after its success', ttl],
  ])
  return [
    ...(success ? attemptRules('delivery.success', id, success, { createdAt, now }) : []),
    ...ofDelivery,
  ]
}
