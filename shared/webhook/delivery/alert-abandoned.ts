import * as v from 'valibot'
import { mapInChunks } from '../../chunks.ts'
import type { Alert, Deps, StoreDeps } from '../../deps.ts'
import { limitError } from '../../errors.ts'
import type { DeliveryId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { queryPages } from '../../table/list-items.ts'
import type { Step } from '../../table/step.ts'
import { addMs, END_OF_TIME, later, MINUTE_MS, SECOND_MS, type Timestamp } from '../../time.ts'
import { type Endpoint, EndpointSchema } from '../endpoint/endpoint.ts'
import { endpointItem, moveMark } from '../endpoint/endpoint-store.ts'
import type { Delivery } from './delivery.ts'
import {
  DELIVERY_ENTITY,
  endAlert,
  endTestAlert,
  findDeliveries,
  findDelivery,
  postponeDelivery,
} from './delivery-store.ts'
import { listKeyIn } from './list-deliveries.ts'

type AlertDeps = StoreDeps & Pick<Deps, 'alerts' | 'log'>

/** At most one alert about an endpoint in this time, unless a redelivery needs it earlier. */
export const ALERT_EVERY_MS = 15 * MINUTE_MS
/** Shorter than the minute between two runs of due work. */
const RETRY_MS = 30 * SECOND_MS
/** Rows that are read for one alert at most. The endpoint's next alert has more. */
const MAX_READ = 5_000
const MAX_NAMED = 500
const WRITES_AT_A_TIME = 25

export function alertDueAt(
  endpoint: Pick<Endpoint, 'lastAlertAt'> | undefined,
  now: Timestamp,
  everyMs = ALERT_EVERY_MS,
): Timestamp {
  return endpoint?.lastAlertAt === undefined
    ? now
    : later(now, addMs(endpoint.lastAlertAt, everyMs))
}

/** Due work: reports an abandoned delivery, or postpones its alert. False: nothing was reported. */
export async function checkAbandonedDelivery(
  deps: AlertDeps,
  deliveryId: DeliveryId,
): Promise<boolean> {
  const delivery = await findDelivery(deps, deliveryId)
  if (!delivery || !needsAlert(delivery) || (delivery.dueAt ?? '') > deps.now()) return false
  const endpoint = await endpointOf(deps, delivery)
  const allowedAt = alertDueAt(endpoint, deps.now())
  const endEach = delivery.isTest ? endTestAlert : endAlert
  if (allowedAt <= deps.now()) return publishAlert(deps, delivery, endpoint, endEach)
  await postponeDelivery(deps, delivery, allowedAt, undefined)
  return false
}

const Marks = v.pick(EndpointSchema, ['deletedAt', 'lastAlertAt'])

/** Other unreadable fields of the endpoint matter to no alert; without these it sets no mark. */
async function endpointOf(deps: AlertDeps, { clientId, endpointId }: Delivery) {
  const ids = { clientId, endpointId }
  const marks = ifValid(Marks, await endpointItem(deps, ids))
  return marks && { ...marks, ...ids }
}

function needsAlert({ status, dueAt }: Delivery) {
  return status === 'abandoned' && dueAt !== undefined
}

/**
 * Reports all unreported abandoned deliveries to an endpoint in one alert (spec 6.4, design section
 * 11), test deliveries apart. False when another worker has just moved the endpoint's
 * `last_alert_at` and reports these deliveries. Rows are marked after the alert: if the worker dies
 * between, the next worker reports them again. Throws 429 when the alert cannot be published: a
 * round would take the alert's place in the row, so the round waits for the alert.
 */
async function publishAlert(
  deps: AlertDeps,
  delivery: Delivery,
  endpoint: Awaited<ReturnType<typeof endpointOf>>,
  endEach: (reported: Delivery) => Step,
) {
  // Always later than the last alert: no two workers can both claim it.
  const at = alertDueAt(endpoint, deps.now(), 1)
  if (endpoint && !(await deps.table.write(moveMark(endpoint, 'lastAlertAt', at))).applied)
    return false
  let deliveries: readonly Delivery[]
  try {
    deliveries = await unreportedOf(deps, delivery)
    await deps.alerts.publish(alertOf(delivery, deliveries)).catch((cause: unknown) => {
      deps.log.error('alert.failed', { endpoint_id: delivery.endpointId }, cause)
      // Due work publishes the alert within a minute, once the topic works.
      throw limitError('no new round can begin now', MINUTE_MS, cause)
    })
  } catch (error) {
    // The mark is moved back, so that the next run of due work retries. The endpoint's other
    // deliveries would read all of them once more for the same failure.
    const retriedFrom = addMs(at, RETRY_MS - ALERT_EVERY_MS)
    const mark = later(retriedFrom, endpoint?.lastAlertAt ?? retriedFrom)
    if (endpoint)
      await deps.table.write(moveMark({ ...endpoint, lastAlertAt: at }, 'lastAlertAt', mark))
    throw error
  }
  await mapInChunks(deliveries, WRITES_AT_A_TIME, (reported) => deps.table.write(endEach(reported)))
  const { endpointId: endpoint_id, clientId: client_id } = delivery
  deps.log.info('alert.published', { endpoint_id, client_id, deliveries: deliveries.length })
  return true
}

/**
 * From this delivery on, because due work begins with the oldest; then earlier ones. Newest first,
 * the oldest of a long outage would get an alert each.
 */
async function unreportedOf(deps: AlertDeps, delivery: Delivery) {
  const { endpointId, createdAt, isTest } = delivery
  const partition = [endpointId, DELIVERY_ENTITY, 'abandoned']
  const found = new Map([[delivery.deliveryId, delivery]])
  let reads = 0
  for (const [range, newestFirst] of [
    [{ between: [createdAt, END_OF_TIME] }, false],
    [{ atMost: createdAt }, true],
  ] as const) {
    const list = { index: 'by-status' as const, partition, range, newestFirst, limit: 500 }
    for await (const { items } of queryPages(deps, list)) {
      const keys = items.flatMap(listKeyIn).filter((key) => key.isTest === isTest)
      const { rows } = await findDeliveries(deps, keys)
      for (const one of rows.filter(needsAlert)) found.set(one.deliveryId, one)
      if ((reads += items.length) >= MAX_READ) return [...found.values()]
    }
  }
  return [...found.values()]
}

function alertOf(
  { clientId, endpointId, isTest }: Delivery,
  abandoned: readonly Delivery[],
): Alert {
  const namedIds = abandoned.slice(0, MAX_NAMED).map(({ deliveryId }) => deliveryId)
  const moreText = abandoned.length > MAX_NAMED ? ` and ${abandoned.length - MAX_NAMED} more` : ''
  const noun = `${isTest ? 'test ' : ''}${abandoned.length === 1 ? 'delivery' : 'deliveries'}`
  const advice = isTest
    ? 'The endpoint still fails. When the merchant has repaired it, run send-test-event again.'
    : 'The merchant does not know of these events. List them all with ' +
      `list-deliveries --client_id ${clientId} --endpoint_id ${endpointId} --status abandoned. ` +
      'When the endpoint works, run redeliver with its endpoint_id and since.'
  return {
    kind: 'delivery.abandoned',
    subject: endpointId,
    message:
      `To endpoint ${endpointId} of client ${clientId}, abandoned after their last attempt: ` +
      `${abandoned.length} ${noun}: ${namedIds.join(', ')}${moreText}. ${advice}`,
  }
}

/** Longer than an alert takes. A worker that moved the mark before has ended, or has died. */
const ALERT_MS = 6 * SECOND_MS
const POLL_MS = 200
/** Eight seconds: all waits are shorter than a function's 10 s. */
const MAX_POLLS = 40

/**
 * Reports the delivery's abandonment before its row begins a round, or waits while another worker
 * does so: redeliveries of one endpoint at once send one alert. Undefined when another caller began
 * a round. Throws 429 when the alert cannot be published.
 */
export async function alertBeforeRound(
  deps: AlertDeps & Pick<Deps, 'sleep'>,
  read: Delivery,
): Promise<Delivery | undefined> {
  if (!needsAlert(read)) return read
  let lastAlertAt: Timestamp | undefined
  let waitedMs = 0
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    // An alert about another delivery of the endpoint may have included this one after the read.
    const delivery = await findDelivery(deps, read.deliveryId)
    if (delivery?.status !== read.status || delivery.attempts !== read.attempts) return undefined
    if (!needsAlert(delivery)) return delivery
    const endpoint = await endpointOf(deps, delivery)
    if (endpoint?.lastAlertAt !== lastAlertAt) waitedMs = 0
    lastAlertAt = endpoint?.lastAlertAt
    const isRecent = lastAlertAt !== undefined && addMs(lastAlertAt, ALERT_MS) > deps.now()
    // The clock of the worker that moved the mark may be ahead.
    if (isRecent && waitedMs < ALERT_MS) {
      await deps.sleep(POLL_MS)
      waitedMs += POLL_MS
    } else await publishAlert(deps, delivery, endpoint, endAlert)
  }
  throw new Error('other workers kept alerting about an endpoint while a round was begun')
}
