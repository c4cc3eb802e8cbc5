import type { Deps } from '../../deps.ts'
import { assertNever } from '../../errors.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../../provider/provider.ts'
import { finding, recordSuspense } from '../../suspense/record-suspense.ts'
import { noteExpiryStarted } from '../due-store.ts'
import type { NewsSource, Payment } from '../payment.ts'
import { parseStored } from '../payment-store.ts'
import { type ApplyOutcome, applyNewsOfVisible } from './apply-news.ts'
import type { NewsDeps } from './ask-for-news.ts'
import { closePayment } from './close-payment.ts'

/** The provider reports nothing that prevents the expiry. */
const isStillOpen = (outcome: ApplyOutcome): boolean =>
  outcome.kind === 'not_found' || (outcome.kind === 'applied' && outcome.payment?.status === 'pending')

const cancelAndClose = async (deps: NewsDeps, payment: Payment, source: NewsSource): Promise<ApplyOutcome> => {
  const answer = await deps.provider.cancelRequest(payment.paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  switch (answer.kind) {
    case 'final':
      return applyNewsOfVisible(deps, payment, source)
    case 'unanswered':
      return answer
    case 'not_found':
      await noteNotFoundUpstream(deps, payment)
      break
    case 'cancelled':
    case 'not_cancellable':
      break
    default:
      return assertNever(answer)
  }
  return { kind: 'applied', payment: await closePayment(deps, payment, { status: 'expired', source }) }
}

/**
 * Expires a payment that is past its time (design section 4), at the provider first, because wallets and QRIS ignore
 * our expiry and would stay payable. Other provider news is applied instead. The start of the expiry is stored before
 * our cancel is sent, so that after a crash the next worker recognises that cancel as ours. An unresolved cancel of the
 * merchant is asked about first; only that makes the payment `cancelled`.
 */
export const expirePayment = async (deps: NewsDeps, payment: Payment, source: NewsSource): Promise<ApplyOutcome> => {
  if (payment.expiryStartedAt !== undefined) return cancelAndClose(deps, payment, source)
  if (payment.cancelRequestedAt !== undefined) {
    const outcome = await applyNewsOfVisible(deps, payment, source)
    if (!isStillOpen(outcome)) return outcome
  }
  const started = await noteExpiryStarted(deps, payment, deps.now())
  if (started.applied) return cancelAndClose(deps, payment, source)
  const kept = parseStored(started.item)
  // Its merchant's cancel was noted meanwhile. That happens once, so this does not repeat.
  const isCancelNew = kept?.status === 'pending' && kept.cancelRequestedAt !== payment.cancelRequestedAt
  return isCancelNew ? expirePayment(deps, kept, source) : { kind: 'applied', payment: kept }
}

/** The provider does not know our request. A wrong or rotated key looks the same, so an operator must check. */
export const noteNotFoundUpstream = (
  deps: Pick<Deps, 'table' | 'now' | 'log' | 'alerts'>,
  payment: Payment,
): Promise<void> =>
  recordSuspense(deps, finding({ subject: payment.paymentId, cause: 'not_found_upstream', payment, now: deps.now() }))
