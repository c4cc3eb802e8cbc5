import type { Deps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import type { CallbackSubject } from '../../provider/provider.ts'
import { addMs, SECOND_MS } from '../../time.ts'
import { rememberCapture } from '../attempt-store.ts'
import { markDueNow } from '../due-store.ts'
import type { StoredPayment } from '../payment.ts'
import { parseStored } from '../payment-store.ts'
import type { ApplyOutcome } from './apply-news.ts'

export type CallbackDeps = Pick<
  Deps,
  'table' | 'provider' | 'now' | 'newId' | 'log' | 'alerts' | 'stage' | 'queues' | 'memory'
>

/** `ask_again`: the provider should repeat this callback. */
export type CallbackOutcome = 'applied' | 'ignored' | 'ask_again'

/**
 * While callbacks are deferred, an environment wakes the sync this often. A sync that is woken too soon does nothing.
 */
const WAKE_EVERY_MS = 30 * SECOND_MS
/** The time that the provider needs to book what it has announced. */
const WAKE_DELAY_SECONDS = 15

/** The sync's head handles all deferred callbacks, a page at a time. */
export const wakeSync = async (deps: CallbackDeps): Promise<void> => {
  const now = deps.now()
  const { syncWokenAt: last } = deps.memory
  if (last !== undefined && last <= now && now < addMs(last, WAKE_EVERY_MS)) return
  deps.memory.syncWokenAt = now
  await deps.queues.send('sync', { body: { woken: true }, delaySeconds: WAKE_DELAY_SECONDS, group: 'sync' })
}

/** The provider refuses calls now, and nothing was written. The provider's own retry, or the sync, brings the news. */
export const putOff = async (deps: CallbackDeps, paymentId: PaymentId | undefined): Promise<CallbackOutcome> => {
  deps.log.warn('callback.deferred', { payment_id: paymentId, outcome: 'rate_limited' })
  await wakeSync(deps)
  return 'ask_again'
}

/**
 * Makes the payment due at once. Answers it where that is refused: a terminal payment, or one that is being created,
 * which remembers the capture if the provider confirms it.
 */
export const makeDue = async (
  deps: CallbackDeps,
  paymentId: PaymentId,
  { providerPaymentId }: CallbackSubject,
  outcome: ApplyOutcome,
): Promise<StoredPayment | undefined> => {
  const now = deps.now()
  const marked = await markDueNow(deps, paymentId, now)
  if (marked.applied) return undefined
  const stored = parseStored(marked.item)
  if (stored?.status === 'creating' && outcome.kind === 'not_shown' && providerPaymentId !== undefined) {
    await rememberCapture(deps, stored, providerPaymentId, now)
  }
  return stored
}
