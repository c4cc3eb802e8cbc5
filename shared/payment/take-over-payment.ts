import type { Deps } from '../deps.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../provider/provider.ts'
import { addMs, msBetween } from '../time.ts'
import { applyProviderReport } from './apply-provider-report.ts'
import { isPushChannel, PUSH_LIFETIME_MS } from './channel-timing.ts'
import { ATTEMPT_LEASE_MS } from './create-times.ts'
import type { Deadline } from './deadline.ts'
import type { CreatingPayment, StoredPayment } from './payment.ts'
import type { ParsedRequest } from './payment-request.ts'
import { claimTakeover, findStoredPayment, parseStored } from './payment-store.ts'
import { referenceOf, withAttempt } from './provider-attempts.ts'
import { createFailed } from './wait-for-attempt.ts'

type TakeOverDeps = Pick<
  Deps,
  'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'monotonicMs' | 'log' | 'alerts'
>

export type TakeOver =
  | { readonly kind: 'taken'; readonly creating: CreatingPayment }
  /** Somebody else was first, or the payment turned out to be paid: this is how it stands. */
  | { readonly kind: 'overtaken'; readonly stored: StoredPayment | undefined }

/** A push may still be answered on the customer's phone: a second one must not be sent beside it. */
const holdBackPush = async (deps: TakeOverDeps, creating: CreatingPayment): Promise<StoredPayment | undefined> => {
  const last = creating.providerAttempts.at(-1)
  if (!last || (last.outcome !== 'unknown' && last.outcome !== 'started')) return undefined
  if (msBetween(last.startedAt, deps.now()) <= PUSH_LIFETIME_MS) {
    throw createFailed('the push sent to the customer may still be answered; retry with the same Idempotency-Key')
  }
  const reference = referenceOf(creating.paymentId, creating.attempt)
  const answer = await deps.provider.listTransactions({ reference, limit: 1 }, PROVIDER_READ_TIMEOUT_MS)
  if (answer.kind !== 'found') {
    throw createFailed('the provider could not say whether the last push was paid; retry with the same Idempotency-Key')
  }
  const [transaction] = answer.value.transactions
  if (!transaction) return undefined
  await applyProviderReport(deps, { providerPaymentId: transaction.providerPaymentId }, 'create')
  const stored = await findStoredPayment(deps, creating.paymentId)
  if (stored?.status === 'creating') {
    throw createFailed(
      'the last push is known to the provider and not decided yet; retry with the same Idempotency-Key',
    )
  }
  return stored
}

/**
 * Claims the next attempt of a payment whose last one failed or died. The stored request is used unless the provider
 * refused every attempt so far for good; then nothing exists upstream and the new request's own counts.
 */
export const takeOver = async (
  deps: TakeOverDeps,
  creating: CreatingPayment,
  parsed: ParsedRequest,
  deadline: Deadline,
): Promise<TakeOver> => {
  const last = creating.providerAttempts.at(-1)
  const allRefused = !creating.mayExistUpstream && last?.outcome === 'refused'
  if (allRefused && !parsed.ok) throw parsed.error
  if (isPushChannel(creating.request) && deadline.remainingMs() > 0) {
    const paidMeanwhile = await holdBackPush(deps, creating)
    if (paidMeanwhile) return { kind: 'overtaken', stored: paidMeanwhile }
  }
  const now = deps.now()
  const attempt = creating.attempt + 1
  const taken: CreatingPayment = {
    ...creating,
    request: allRefused && parsed.ok ? parsed.request : creating.request,
    attempt,
    leaseUntil: addMs(now, ATTEMPT_LEASE_MS),
    mayExistUpstream: creating.mayExistUpstream || last?.outcome !== 'refused',
    providerAttempts: withAttempt(creating.providerAttempts, { number: attempt, startedAt: now, outcome: 'started' }),
    failure: undefined,
  }
  const claimed = await claimTakeover(deps, taken, now)
  if (!claimed.applied) return { kind: 'overtaken', stored: parseStored(claimed.item) }
  deps.log.info('payment.create_taken_over', { payment_id: creating.paymentId, attempt })
  return { kind: 'taken', creating: taken }
}
