import { addMs } from '../../time.ts'
import { claimTakeover } from '../attempt-store.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import { channelOf } from '../channel/channels.ts'
import type { NewsDeps } from '../news/ask-for-news.ts'
import type { CreatingPayment, ProviderAttempt, StoredPayment } from '../payment.ts'
import { parseStored } from '../payment-store.ts'
import { ATTEMPT_LEASE_MS, timesOf } from './create-times.ts'
import { COMMIT_FAILED } from './end-attempt.ts'
import { holdBackPush, mayBeSent } from './hold-back-push.ts'
import type { ParsedRequest } from './refuse-body.ts'

type TakeOver =
  | { readonly kind: 'taken'; readonly creating: CreatingPayment }
  /** Another caller was first, or the payment is paid: its present state. */
  | { readonly kind: 'overtaken'; readonly stored: StoredPayment | undefined }

/**
 * Claims the next attempt of a payment whose last one failed or died. The stored request is used, unless the provider
 * refused every attempt so far for good; then nothing exists at the provider, and the new request counts. A provider
 * request whose commit failed is cancelled, best effort.
 */
export const takeOverPayment = async (
  deps: NewsDeps,
  creating: CreatingPayment,
  parsed: ParsedRequest,
): Promise<TakeOver> => {
  const last = creating.providerAttempts.at(-1)
  const allRefused = !creating.mayExistUpstream && last?.outcome === 'refused'
  if (allRefused && !parsed.ok) throw parsed.error
  // The lease starts before the question: an older answer says nothing about now.
  const now = deps.now()
  const { push } = channelOf(creating.request)
  if (push) {
    const overtaken = await holdBackPush(deps, creating, push)
    if (overtaken) return { kind: 'overtaken', stored: overtaken.overtakenBy }
  }
  const attempt = creating.attempt + 1
  const request = allRefused && parsed.ok ? parsed.request : creating.request
  const taken: CreatingPayment = {
    ...creating,
    request,
    attempt,
    leaseUntil: addMs(now, ATTEMPT_LEASE_MS),
    mayExistUpstream: creating.mayExistUpstream || last?.outcome !== 'refused',
    providerAttempts: withAttempt(creating.providerAttempts, { number: attempt, startedAt: now, outcome: 'started' }),
    failure: undefined,
    dueAt: timesOf(request, now).dueAt,
  }
  const claimed = await claimTakeover(deps, { read: creating, taken }, now)
  if (!claimed.applied) return { kind: 'overtaken', stored: parseStored(claimed.item) }
  deps.log.info('payment.create_taken_over', { payment_id: creating.paymentId, attempt })
  // Until now an abandoned commit could still arrive.
  const orphan = last?.code === COMMIT_FAILED ? last.paymentRequestId : undefined
  if (orphan !== undefined && !push) await cancelOrphan(deps, orphan, creating.paymentId)
  return { kind: 'taken', creating: taken }
}

const MOST_KEPT = 20

/** If all of them may have been sent, the oldest ones stay. */
const KEPT_FIRST = 10

/**
 * Adds an attempt. At twenty, the oldest attempt that left nothing at the provider is dropped, or the eleventh if all
 * may have.
 */
export const withAttempt = (attempts: readonly ProviderAttempt[], attempt: ProviderAttempt): ProviderAttempt[] => {
  const all = [...attempts, attempt]
  if (all.length <= MOST_KEPT) return all
  const unsent = all.findIndex((one) => !mayBeSent(one))
  return all.toSpliced(unsent === -1 ? KEPT_FIRST : unsent, 1)
}
