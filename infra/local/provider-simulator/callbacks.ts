import { numberOf, takeFault } from './faults.ts'
import { ProviderError } from './provider-error.ts'
import { BUSINESS_ID } from './provider-objects.ts'
import type { CallbackRecord } from './simulator-store.ts'
import { nextInSequence, paymentOf, timestampNow, type World } from './world.ts'

type PaymentEvent = 'payment.capture' | 'payment.failure' | 'payment_request.expiry'
type CallbackEvent =
  | PaymentEvent
  | 'refund.succeeded'
  | 'dispute.action_required'
  | 'dispute.won'
  | 'dispute.lost'

/** The sender adds the address. */
export type OutgoingCallback = {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

// Of the API before v3. Callbacks of v3 were observed with the old name of the expiry.
const LEGACY_NAMES: ReadonlyMap<CallbackEvent, string> = new Map([
  ['payment.capture', 'payment.succeeded'],
  ['payment.failure', 'payment.failed'],
  ['payment_request.expiry', 'payment_request.expired'],
])

const RETRY_DELAYS_MS = [15, 45, 120, 180, 360, 720].map((minutes) => minutes * 60_000)
const LONGEST_HOLD_MS = 5000

/**
 * With the effects of the armed callback faults. `fromMs`: the event's time, if it is later than
 * now.
 */
export function announce(world: World, event: CallbackEvent, data: object, fromMs = world.nowMs()) {
  if (takeFault(world, 'callback', 'lost')) return
  const duplicate = takeFault(world, 'callback', 'duplicate')
  const copies = duplicate ? (numberOf(duplicate) ?? 2) : 1
  const delaySeconds = numberOf(takeFault(world, 'callback', 'delay')) ?? 0
  const isHeld = takeFault(world, 'callback', 'reorder') !== undefined
  const hasLegacyName = takeFault(world, 'callback', 'legacy_names') !== undefined
  const name = hasLegacyName ? (LEGACY_NAMES.get(event) ?? event) : event
  const wrongToken = takeFault(world, 'callback', 'wrong_token') !== undefined
  const dueMs = fromMs + Math.round(delaySeconds * 1000) + (isHeld ? LONGEST_HOLD_MS : 0)
  enqueue(world, { event: name, data, wrongToken, held: isHeld, dueMs }, copies)
}

function enqueue(
  world: World,
  fields: Pick<CallbackRecord, 'event' | 'data'> & Partial<CallbackRecord>,
  copies = 1,
) {
  const callback = {
    webhookId: world.newUuid(),
    wrongToken: false,
    forged: false,
    held: false,
    attempts: 0,
    dueMs: world.nowMs(),
    ...fields,
  }
  for (let copy = 0; copy < copies; copy++) {
    const id = String(nextInSequence(world, 'callback'))
    world.store.callbacks.put({ ...callback, id })
    world.agenda.add({ kind: 'callback', id, dueMs: callback.dueMs })
  }
}

/**
 * Acts as an attacker who knows the callback token: reports a capture that never happened, for the
 * latest request of the payment. Throws `DATA_NOT_FOUND` if the payment has no request.
 */
export function forgeCapture(world: World, gatewayPaymentId: string) {
  const isOwnReference = (reference: string) =>
    reference === gatewayPaymentId || reference.startsWith(`${gatewayPaymentId}-`)
  const target = world.store.requests
    .all()
    .findLast(({ request }) => isOwnReference(request.reference_id))
  if (!target)
    throw new ProviderError(
      'DATA_NOT_FOUND',
      `no payment request refers to payment '${gatewayPaymentId}'`,
    )
  const capture = {
    capture_id: `cptr-${world.newUuid()}`,
    capture_amount: target.request.request_amount,
    capture_timestamp: timestampNow(world),
  }
  const data = { ...paymentOf(world, target.request), status: 'SUCCEEDED', captures: [capture] }
  enqueue(world, { event: 'payment.capture', data, forged: true })
}

/** `created` is the time of the attempt, so it differs between attempts. */
export function toOutgoing(
  world: World,
  callback: CallbackRecord,
  callbackToken: string,
): OutgoingCallback {
  return {
    headers: {
      'content-type': 'application/json',
      'x-callback-token': callback.wrongToken ? `not-${callbackToken}` : callbackToken,
      'webhook-id': callback.webhookId,
    },
    body: JSON.stringify(bodyOf(world, callback)),
  }
}

/** As at the real provider, the fields of a dispute are beside `event`, not inside `data`. */
function bodyOf(world: World, { event, data }: CallbackRecord): object {
  if (event.startsWith('dispute.')) return { event, ...data }
  const created = timestampNow(world)
  return { created, business_id: BUSINESS_ID, event, api_version: 'v3', data }
}

/** The provider retries a failed callback up to six times; a forger never retries. */
export function recordAttempt(world: World, id: string, delivered: boolean) {
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

// A held callback is sent after another one, so the two arrive in reverse order.
function releaseHeld(world: World, sentWebhookId: string) {
  const dueMs = world.nowMs()
  for (const callback of world.store.callbacks.all()) {
    if (!callback.held || callback.webhookId === sentWebhookId) continue
    world.store.callbacks.put({ ...callback, held: false, dueMs })
    world.agenda.add({ kind: 'callback', id: callback.id, dueMs })
  }
}
