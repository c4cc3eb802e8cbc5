import type { Deps } from '../../deps.ts'
import { GatewayError } from '../../errors.ts'
import { type PaymentId, paymentIdOf } from '../../ids.ts'
import type { CallbackSubject, ParseCallback } from '../../provider/provider.ts'
import { notePause, pausedUntil } from '../../provider/quota-store.ts'
import { addMs, SECOND_MS } from '../../time.ts'
import { rememberCapture } from '../creating-store.ts'
import { markDueNow, parseStored } from '../payment-store.ts'
import { type ApplyOutcome, applyProviderNews, findNamedPayment } from './apply-news.ts'
import type { NewsDeps } from './ask-for-news.ts'
import { receiveDispute } from './receive-dispute.ts'

type CallbackDeps = NewsDeps & Pick<Deps, 'memory'>

/** `ask_again`: the provider should repeat this callback. */
type CallbackOutcome = 'applied' | 'ignored' | 'ask_again'

/**
 * Receives a provider callback (design section 4). A callback only names what to ask about, so a
 * forged callback changes nothing. If the provider cannot be asked, or does not show yet what its
 * callback announced, the payment becomes due at once: the provider's first retry comes after 15
 * minutes. While the provider refuses calls, nothing is asked or written. A callback about a
 * reversal or a dispute wakes the sync, which reads the booked rows; a dispute is written down too.
 */
export async function receiveCallback(
  deps: CallbackDeps,
  input: { readonly isGenuine: boolean; readonly rawBody: Buffer; readonly parse: ParseCallback },
): Promise<CallbackOutcome> {
  if (!input.isGenuine) {
    deps.log.warn('callback.refused')
    throw new GatewayError('auth', 'invalid callback token')
  }
  // A genuine callback is never that long.
  const callback =
    input.rawBody.length > 262_144 ? undefined : input.parse(input.rawBody.toString('utf8'))
  if (callback === 'money_back') {
    await wakeSync(deps)
    return 'applied'
  }
  if (callback && 'kind' in callback) {
    await wakeSync(deps)
    return receiveDispute(deps, callback)
  }
  if (callback !== undefined) return applyCallback(deps, callback)
  deps.log.info('callback.ignored')
  return 'ignored'
}

/**
 * The sync's head handles all deferred callbacks, a page at a time. An environment wakes the sync
 * at most every 30 s.
 */
async function wakeSync(deps: CallbackDeps) {
  const now = deps.now()
  const { syncWokenAt: lastWokenAt } = deps.memory
  if (lastWokenAt !== undefined && lastWokenAt <= now && now < addMs(lastWokenAt, 30 * SECOND_MS))
    return
  // The provider needs some time to book what it has announced.
  await deps.queues.send('sync', { body: { woken: true }, delaySeconds: 15, group: 'sync' })
  deps.memory.syncWokenAt = now
}

async function applyCallback(
  deps: CallbackDeps,
  callback: CallbackSubject,
): Promise<CallbackOutcome> {
  const { providerPaymentId } = callback
  const paymentId = paymentIdOf(callback.reference)
  const stored = await findNamedPayment(deps, callback)
  if (stored && stored.status !== 'creating' && stored.status !== 'pending') {
    // A capture that is already credited, or the status of a terminal payment's request: neither
    // can change anything.
    if (providerPaymentId === undefined || providerPaymentId === stored.capture?.providerPaymentId)
      return 'ignored'
  }
  if (await pausedUntil(deps, providerPaymentId === undefined ? 'getRequest' : 'getPayment')) {
    return deferCallback(deps, paymentId)
  }
  const outcome = await applyProviderNews(deps, callback, 'callback', stored)
  if (outcome.kind === 'unanswered' && outcome.reason === 'rate_limited') {
    await notePause(deps, ['getPayment', 'getRequest'])
    return deferCallback(deps, paymentId)
  }
  // The provider gave no answer, or does not show yet what its callback announced.
  const needsAnotherCheck =
    outcome.kind === 'applied'
      ? providerPaymentId !== undefined &&
        !outcome.held &&
        ['pending', 'creating'].includes(outcome.payment?.status ?? '')
      : outcome.kind !== 'deferred'
  const unmarkedPayment =
    paymentId && needsAnotherCheck ? await makeDue(deps, paymentId, callback, outcome) : undefined
  // Only the provider can repeat a capture that a payment in creation does not remember.
  const mustBeRepeated = unmarkedPayment?.status === 'creating' && providerPaymentId !== undefined
  if (outcome.kind === 'applied' && !mustBeRepeated) return 'applied'
  deps.log.warn('callback.deferred', { payment_id: paymentId, outcome: outcome.kind })
  return mustBeRepeated || outcome.kind !== 'not_found' ? 'ask_again' : 'ignored'
}

/** The provider refuses calls now. Its own retry, or the sync, brings the news. */
async function deferCallback(
  deps: CallbackDeps,
  paymentId: PaymentId | undefined,
): Promise<CallbackOutcome> {
  deps.log.warn('callback.deferred', { payment_id: paymentId, outcome: 'rate_limited' })
  await wakeSync(deps)
  return 'ask_again'
}

/** A pending payment becomes due; a payment in creation remembers the capture. */
async function makeDue(
  deps: CallbackDeps,
  paymentId: PaymentId,
  { providerPaymentId }: CallbackSubject,
  outcome: ApplyOutcome,
) {
  const now = deps.now()
  const write = await markDueNow(deps, paymentId, now)
  if (write.applied) return undefined
  const stored = parseStored(write.item)
  const isUndecided = outcome.kind === 'not_shown' || outcome.kind === 'unanswered'
  if (stored?.status === 'creating' && isUndecided && providerPaymentId !== undefined) {
    const remembered = await rememberCapture(deps, stored, providerPaymentId, now)
    // The create's attempt has committed the payment meanwhile, so it can be made due.
    if (!remembered.applied) await markDueNow(deps, paymentId, now)
  }
  return stored
}
