import type { Deps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { countTransition } from '../../ledger/count-store.ts'
import { loggedPayment } from '../../log.ts'
import { transactWhileFresh } from '../../table/table.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../time.ts'
import { commitPending, putPointers } from '../creating-store.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, Payment, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { attemptStart, type Deadline, timesOf } from './create-times.ts'

type CommitDeps = Pick<Deps, 'table' | 'sleep' | 'now' | 'log'>

export type Destination = {
  readonly paymentRequestId: string
  readonly destination: string | undefined
  readonly expiresAt: Timestamp
}

export type Commit =
  | { readonly kind: 'committed'; readonly payment: Payment }
  /** A later attempt or a capture has overtaken this attempt, so its provider request is an orphan. */
  | { readonly kind: 'overtaken_by'; readonly stored: StoredPayment }
  /**
   * The payment expired before anyone saw its destination: a frozen process or a very short expiry. Its provider
   * request is an orphan too.
   */
  | { readonly kind: 'expired' }

const MAX_TRIES = 4
const RETRY_MS = 250

const pendingPayment = (creating: CreatingPayment, upstream: Destination, now: Timestamp): Payment => {
  const payment = newPayment(creating, upstream, { createdAt: now, expiresAt: upstream.expiresAt })
  // A capture that came during the create is checked at once.
  const { dueAt } = timesOf(creating.request, attemptStart(creating))
  return { ...payment, dueAt: creating.rememberedProviderPaymentIds ? now : dueAt }
}

type Try = Commit | { readonly kind: 'again'; readonly creating: CreatingPayment }

const afterRefusal = (stored: StoredPayment | undefined, creating: CreatingPayment, upstream: Destination): Try => {
  assertInvariant(stored !== undefined, 'a claimed payment is never deleted')
  // Our commit was applied and its answer was lost, or this very request was paid. The destination is the one to show.
  if (stored.status !== 'creating') {
    return stored.paymentRequestId === upstream.paymentRequestId
      ? { kind: 'committed', payment: stored }
      : { kind: 'overtaken_by', stored }
  }
  if (stored.attempt !== creating.attempt) return { kind: 'overtaken_by', stored }
  return { kind: 'again', creating: { ...creating, rememberedProviderPaymentIds: stored.rememberedProviderPaymentIds } }
}

const tryCommit = async (deps: CommitDeps, creating: CreatingPayment, upstream: Destination): Promise<Try> => {
  const now = deps.now()
  if (upstream.expiresAt <= now) {
    // An earlier try may have been applied. Then the payment exists and expires like any other.
    const found = afterRefusal(await findStoredPayment(deps, creating.paymentId), creating, upstream)
    return found.kind === 'again' ? { kind: 'expired' } : found
  }
  const payment = pendingPayment(creating, upstream, now)
  await putPointers(deps, payment)
  const outcome = await transactWhileFresh(
    deps,
    {
      payment: commitPending(payment),
      counts: countTransition({ ...payment, from: undefined, to: 'pending' }),
    },
    addMs(now, MINUTE_MS),
  )
  // After a freeze between two tries `created_at` would be far in the past.
  if (outcome.applied === 'stale') return { kind: 'again', creating }
  if (!outcome.applied) return afterRefusal(await findStoredPayment(deps, creating.paymentId), creating, upstream)
  deps.log.info('payment.created', loggedPayment(payment))
  return { kind: 'committed', payment }
}

/**
 * Moves a payment from `creating` to `pending` with its destination (design section 4, Create, step 5). A failed write
 * is retried while time is left, because its answer may have been lost; the condition tells. When the outcome stays
 * unknown it throws. The provider request then stays, because the payment may show it.
 */
export const commitAttempt = async (
  deps: CommitDeps,
  creating: CreatingPayment,
  upstream: Destination,
  deadline: Deadline,
): Promise<Commit> => {
  let current = creating
  for (let tried = 1; ; tried++) {
    try {
      const result = await tryCommit(deps, current, upstream)
      if (result.kind !== 'again') return result
      current = result.creating
      if (tried >= MAX_TRIES) throw new Error('a payment kept changing while it was committed')
    } catch (error) {
      if (tried >= MAX_TRIES || deadline.remainingMs() < RETRY_MS) throw error
      await deps.sleep(RETRY_MS)
    }
  }
}
