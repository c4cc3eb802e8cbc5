import { assertNever } from '../../errors.ts'
import { PROVIDER_READ_TIMEOUT_MS } from '../../provider/provider.ts'
import type { NewsSource, Payment } from '../payment.ts'
import { noteExpiryStarted, parseStored } from '../payment-store.ts'
import { type ApplyOutcome, applyNewsOfVisible } from './apply-news.ts'
import { closePayment } from './close-payment.ts'
import type { NewsDeps } from './news-deps.ts'
import { noteNotFoundUpstream } from './note-not-found-upstream.ts'

/** Nothing upstream stands against its expiry. */
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
  return { kind: 'applied', payment: await closePayment(deps, payment, 'expired', source) }
}

/**
 * Ends a payment that is past its time (design section 4), upstream first: wallets and QRIS take no expiry of ours and
 * would stay payable. What the provider knows better is applied instead. That it began is written down before our own
 * cancel leaves, so that whoever goes on behind a crash takes that cancel for ours; a cancel of the merchant whose
 * outcome is not known is therefore asked about before, and alone makes it `cancelled`.
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
  // Its merchant's cancel was noted meanwhile. That is noted once, so this comes round no second time.
  const isCancelNew = kept?.status === 'pending' && kept.cancelRequestedAt !== payment.cancelRequestedAt
  return isCancelNew ? expirePayment(deps, kept, source) : { kind: 'applied', payment: kept }
}
