import { numberOf, takeFault } from './faults.ts'
import { ProviderError } from './provider-error.ts'
import { BUSINESS_ID } from './provider-objects.ts'
import type { CallbackRecord } from './simulator-store.ts'
import { nextInSequence, paymentOf, timestampNow, type World } from './world.ts'

type PaymentEvent = 'payment.capture' | 'payment.failure' | 'payment_request.expiry'
export type CallbackEvent = PaymentEvent | 'refund.succeeded' | 'dispute.action_required' | 'dispute.won'

/** What is posted to the merchant's callback address; the sender adds the address. */
export type OutgoingCallback = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

// The names of the API before v3, and the one that v3 has been seen to send for an expiry.
const LEGACY_NAMES: ReadonlyMap<CallbackEvent, string> = new Map([
  ['payment.capture', 'payment.succeeded'],
  ['payment.failure', 'payment.failed'],
  ['payment_request.expiry', 'payment_request.expired'],
])

const RETRY_DELAYS_MS = [15, 45, 120, 180, 360, 720].map((minutes) => minutes * 60_000)
const LONGEST_HOLD_MS = 5000

/** Announces an event to the merchant from the next turn on, with whatever callback faults are armed. */
export const announce = (world: World, event: CallbackEvent, data: object) => {
  if (takeFault(world, 'callback', 'lost')) return
  const duplicate = takeFault(world, 'callback', 'duplicate')
  const copies = duplicate ? (numberOf(duplicate) ?? 2) : 1
  const delaySeconds = numberOf(takeFault(world, 'callback', 'delay')) ?? 0
  const held = takeFault(world, 'callback', 'reorder') !== undefined
  const name = takeFault(world, 'callback', 'legacy_names') ? (LEGACY_NAMES.get(event) ?? event) : event
  const wrongToken = takeFault(world, 'callback', 'wrong_token') !== undefined
  const dueMs = world.nowMs() + Math.round(delaySeconds * 1000) + (held ? LONGEST_HOLD_MS : 0)
  const webhookId = world.newUuid()
  for (let copy = 0; copy < copies; copy++) {
    enqueue(world, { webhookId, event: name, data, wrongToken, forged: false, held, dueMs })
  }
}

/**
 * Sends at once what someone who knows the callback token, but is not the provider, would send for a payment of the
 * gateway: a capture under a made-up payment id, for that payment's latest request. Throws `DATA_NOT_FOUND`.
 */
export const forgeCapture = (world: World, gatewayPaymentId: string) => {
  const ownReference = (reference: string) =>
    reference === gatewayPaymentId || reference.startsWith(`${gatewayPaymentId}-`)
  const target = world.store.requests.all().findLast(({ request }) => ownReference(request.reference_id))
  if (!target) throw new ProviderError('DATA_NOT_FOUND', `no payment request refers to payment '${gatewayPaymentId}'`)
  const capture = {
    capture_id: `cptr-${world.newUuid()}`,
    capture_amount: target.request.request_amount,
    capture_timestamp: timestampNow(world),
  }
  const data = { ...paymentOf(world, target.request), status: 'SUCCEEDED', captures: [capture] }
  const dueMs = world.nowMs()
  const webhookId = world.newUuid()
  enqueue(world, { webhookId, event: 'payment.capture', data, wrongToken: false, forged: true, held: false, dueMs })
}

const enqueue = (world: World, callback: Omit<CallbackRecord, 'id' | 'attempts'>) => {
  const id = String(nextInSequence(world, 'callback'))
  world.store.callbacks.put({ id, attempts: 0, ...callback })
  world.agenda.add({ kind: 'callback', id, dueMs: callback.dueMs })
}

/** The request as it goes over the wire; `created` is the time of this attempt, so it differs between attempts. */
export const toOutgoing = (world: World, callback: CallbackRecord, callbackToken: string): OutgoingCallback => ({
  headers: {
    'content-type': 'application/json',
    'x-callback-token': callback.wrongToken ? `not-${callbackToken}` : callbackToken,
    'webhook-id': callback.webhookId,
  },
  body: JSON.stringify(bodyOf(world, callback)),
})

/** One about a dispute says everything beside its event, as upstream. */
const bodyOf = (world: World, { event, data }: CallbackRecord): object =>
  event.startsWith('dispute.')
    ? { event, ...data }
    : { created: timestampNow(world), business_id: BUSINESS_ID, event, api_version: 'v3', data }

/** Records the outcome of one attempt: done, tried again on the provider's schedule, or given up after the seventh. */
export const recordAttempt = (world: World, id: string, delivered: boolean) => {
  const callback = world.store.callbacks.get(id)
  if (!callback) return
  const delayMs = RETRY_DELAYS_MS[callback.attempts]
  if (delivered || callback.forged || delayMs === undefined) world.store.callbacks.delete(id)
  else {
    const dueMs = world.nowMs() + delayMs
    world.store.callbacks.put({ ...callback, attempts: callback.attempts + 1, held: false, dueMs })
    world.agenda.add({ kind: 'callback', id, dueMs })
  }
  releaseHeld(world, callback.webhookId)
}

// A held callback goes out once another one has been sent: that is what changes their order.
const releaseHeld = (world: World, sentWebhookId: string) => {
  const dueMs = world.nowMs()
  for (const callback of world.store.callbacks.all()) {
    if (!callback.held || callback.webhookId === sentWebhookId) continue
    world.store.callbacks.put({ ...callback, held: false, dueMs })
    world.agenda.add({ kind: 'callback', id: callback.id, dueMs })
  }
}
