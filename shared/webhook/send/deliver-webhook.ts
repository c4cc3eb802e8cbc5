import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { findEventBody } from '../../event/event-store.ts'
import { deliveryIdFor, eventIdFor, paymentOfSubject } from '../../ids.ts'
import type { WebhookResult } from '../../send-webhook.ts'
import { finding, logSuspense } from '../../suspense/record-suspense.ts'
import { writeSuspense } from '../../suspense/suspense-store.ts'
import { endpointKey } from '../../table/keys.ts'
import { addMs, msBetween, SECOND_MS } from '../../time.ts'
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryMessage,
  DeliverySchema,
} from '../delivery/delivery.ts'
import { keyOfDelivery, sendDeliveryMessages } from '../delivery/delivery-store.ts'
import {
  type Endpoint,
  laneOf,
  type SealedEndpoint,
  SealedEndpointSchema,
} from '../endpoint/endpoint.ts'
import { claimAttempt, skipDelivery } from './attempt-store.ts'
import {
  type AttemptResultDeps,
  hopSeconds,
  noteAnswer,
  recordAttemptResult,
} from './record-attempt-result.ts'
import { webhookHeaders } from './webhook-headers.ts'

type DeliverDeps = AttemptResultDeps &
  Pick<Deps, 'sealer' | 'sendWebhook' | 'newId' | 'realNowMs' | 'monotonicMs'>

/** Longer than an attempt can take: an expired claim belongs to a worker that died. */
const CLAIM_MS = 15 * SECOND_MS

/**
 * After this time an attempt could outlive the invocation, so no attempt is claimed. The queue
 * repeats the message.
 */
const LATEST_CLAIM_MS = 3 * SECOND_MS

type DropReason = 'unknown_delivery' | 'finished' | 'attempt_made' | 'claimed' | 'claim_lost'

/**
 * Handles one message (spec 6.4). The row decides, so a message may arrive twice, late or never.
 * Each attempt number is claimed once and makes at most one POST: eight POSTs in a round, also
 * after crashes. The expired claim of a dead worker is recorded as a failure. Throws only if
 * nothing is lost: the queue's retry reads the row again.
 */
export async function deliverWebhook(deps: DeliverDeps, message: DeliveryMessage): Promise<void> {
  const beganMs = deps.monotonicMs()
  const [row, endpointRow] = await deps.table.getMany([
    keyOfDelivery({ deliveryId: message.deliveryId, isTest: message.test || undefined }),
    endpointKey(message),
  ])
  if (!row) return dropMessage(deps, message, 'unknown_delivery')
  const delivery = v.parse(DeliverySchema, row)
  const endpoint = v.parse(v.optional(SealedEndpointSchema), endpointRow)
  assertDerived(delivery, message)
  if (delivery.status !== 'scheduled') return dropMessage(deps, message, 'finished')
  if (message.attempt <= delivery.attempts) return dropMessage(deps, message, 'attempt_made')
  if (delivery.claimToken !== undefined) return handleClaimedDelivery(deps, delivery, endpoint)
  assertInvariant(delivery.nextAttemptAt !== undefined, 'a scheduled delivery has a next attempt')
  const waitMs = msBetween(deps.now(), delivery.nextAttemptAt)
  if (waitMs > 0) return requeueDelivery(deps, delivery, endpoint, hopSeconds(waitMs))
  if (!endpoint?.enabled) return skipWithoutEndpoint(deps, delivery)
  if (laneOf(endpoint) === 'slow' && message.slow !== true)
    return requeueDelivery(deps, delivery, endpoint, 0)
  return attemptDelivery(deps, delivery, endpoint, beganMs)
}

/**
 * The secret of an endpoint signs the events of its own client alone, each in its own row. So a
 * function that may write rows and messages cannot choose what is signed.
 */
function assertDerived(delivery: Delivery, message: DeliveryMessage) {
  const { clientId, endpointId, eventId, eventName, subject, isTest = false } = delivery
  const isSameEndpoint = clientId === message.clientId && endpointId === message.endpointId
  assertInvariant(isSameEndpoint, 'a message names the endpoint of its delivery')
  const isOwnEvent = isTest || (subject && eventId === eventIdFor(subject, eventName))
  const isOwnRow = deliveryIdFor(eventId, endpointId) === message.deliveryId
  assertInvariant(isOwnEvent === true && isOwnRow, 'a delivery is of its event and its endpoint')
}

type DroppedMessage = Pick<DeliveryMessage, 'deliveryId' | 'attempt'>

function dropMessage(
  deps: DeliverDeps,
  { deliveryId, attempt }: DroppedMessage,
  reason: DropReason,
) {
  deps.log.info('delivery.dropped', { delivery_id: deliveryId, attempt, reason })
}

/**
 * A live claim belongs to another worker: check again at its expiry. An expired claim means a
 * crash, maybe after the POST.
 */
async function handleClaimedDelivery(
  deps: DeliverDeps,
  delivery: Delivery,
  endpoint: Endpoint | undefined,
) {
  assertInvariant(delivery.claimedUntil !== undefined, 'a claim has an expiry')
  const leftMs = msBetween(deps.now(), delivery.claimedUntil)
  if (leftMs > 0) return requeueDelivery(deps, delivery, endpoint, hopSeconds(leftMs))
  const lostAttempt = {
    number: delivery.attempts + 1,
    at: addMs(delivery.claimedUntil, -CLAIM_MS),
    durationMs: 0,
    error: 'unknown',
  } as const
  if (!(await recordAttemptResult(deps, delivery, lostAttempt, laneOf(endpoint), endpoint)))
    dropMessage(deps, nextAttemptOf(delivery), 'claim_lost')
}

/** Sends the message again. If SQS cannot hold it for the whole wait, it takes several hops. */
async function requeueDelivery(
  deps: DeliverDeps,
  delivery: Delivery,
  endpoint: Endpoint | undefined,
  delaySeconds: number,
) {
  const lane = laneOf(endpoint)
  await sendDeliveryMessages(deps, [{ delivery, lane }], delaySeconds)
  deps.log.info('delivery.requeued', {
    delivery_id: delivery.deliveryId,
    lane,
    delay_seconds: delaySeconds,
  })
}

function nextAttemptOf({ deliveryId, attempts }: Delivery): DroppedMessage {
  return { deliveryId, attempt: attempts + 1 }
}

async function skipWithoutEndpoint(deps: DeliverDeps, delivery: Delivery) {
  if (!(await skipDelivery(deps, delivery)))
    return dropMessage(deps, nextAttemptOf(delivery), 'claimed')
  deps.log.warn('delivery.skipped', {
    delivery_id: delivery.deliveryId,
    endpoint_id: delivery.endpointId,
    client_id: delivery.clientId,
    reason: 'endpoint_off',
  })
}

async function attemptDelivery(
  deps: DeliverDeps,
  delivery: Delivery,
  endpoint: SealedEndpoint,
  beganMs: number,
) {
  const { subject, eventName: name, clientId } = delivery
  const isLate = delivery.rounds !== undefined || delivery.createdAt !== delivery.firedAt
  // Before the claim, because our failed read must not count as an attempt. There is no secret if
  // another stage sealed it: the client then needs a new endpoint. A test delivery has its bytes in
  // its row.
  const [signingSecret, text] = await Promise.all([
    endpoint.sealedSecret === undefined
      ? undefined
      : deps.sealer.unseal(endpoint.sealedSecret, endpoint),
    delivery.isTest
      ? delivery.body
      : subject && findEventBody(deps, { subject, name, clientId, isLate }),
  ])
  if (deps.monotonicMs() - beganMs > LATEST_CLAIM_MS)
    throw new Error('too late to claim an attempt')
  const at = deps.now()
  const claimedDelivery = await claimAttempt(deps, delivery, {
    token: deps.newId(),
    until: addMs(at, CLAIM_MS),
  })
  if (!claimedDelivery) return dropMessage(deps, nextAttemptOf(delivery), 'claimed')
  // The claim had expired when the table confirmed it: the attempt is recorded as lost.
  if (deps.now() >= addMs(at, CLAIM_MS))
    return handleClaimedDelivery(deps, claimedDelivery, endpoint)
  const { url } = endpoint
  const result = await makeAttempt(deps, claimedDelivery, { url, text, signingSecret })
  const attempt: DeliveryAttempt = { number: claimedDelivery.attempts + 1, at, ...result }
  const lane = await noteAnswer(deps, endpoint, attempt)
  if (!(await recordAttemptResult(deps, claimedDelivery, attempt, lane, endpoint)))
    dropMessage(deps, nextAttemptOf(claimedDelivery), 'claim_lost')
}

type Content = {
  readonly url: string
  readonly text: string | undefined
  readonly signingSecret: string | undefined
}

/** Without the event's bytes or the secret there is no POST. */
async function makeAttempt(
  deps: DeliverDeps,
  delivery: Delivery,
  { url, text, signingSecret }: Content,
): Promise<WebhookResult> {
  if (text === undefined) {
    // An event outlives all its deliveries, so it was lost: due work alerts the operators.
    const { eventId, clientId } = delivery
    const paymentId = paymentOfSubject(delivery.subject)
    const payment = paymentId && { paymentId, clientId }
    const missingEvent = finding({
      subject: eventId,
      cause: 'event_gone',
      payment,
      now: deps.now(),
    })
    if ((await writeSuspense(deps, missingEvent)).applied) logSuspense(deps, missingEvent)
    return { error: 'event_gone', durationMs: 0 }
  }
  if (signingSecret === undefined) return { error: 'secret_missing', durationMs: 0 }
  const body = Buffer.from(text, 'utf8')
  const headers = webhookHeaders(delivery, { body, signingSecret, sentAtMs: deps.realNowMs() })
  return deps.sendWebhook({ url, headers, body })
}
