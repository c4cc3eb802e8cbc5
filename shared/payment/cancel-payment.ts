import type { Deps } from '../deps.ts'
import { assertNever, type GatewayError, invalid } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { type CancelAnswer, PROVIDER_READ_TIMEOUT_MS, type Unanswered } from '../provider/provider.ts'
import { providerFailure } from '../provider/provider-failure.ts'
import { finding, recordSuspense } from '../suspense/record-suspense.ts'
import { applyProviderReport } from './apply-provider-report.ts'
import { closePayment } from './close-payment.ts'
import { findPayment } from './find-payment.ts'
import type { Payment } from './payment.ts'
import { noteCancelRequested } from './payment-store.ts'

type CancelDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'log' | 'alerts'>

const unanswered = (answer: Pick<Unanswered, 'reason'>): GatewayError =>
  providerFailure(answer, 'the payment is unchanged here, try again')

/** Answers by the status that is kept, whoever brought it about. */
const answerAsKept = (payment: Payment): Payment => {
  if (payment.status === 'cancelled') return payment
  throw invalid(`payment cannot be cancelled in status=${payment.status}`)
}

const reread = (deps: CancelDeps, payment: Payment) => findPayment(deps, payment.clientId, payment.paymentId)

const closeAsCancelled = async (deps: CancelDeps, payment: Payment): Promise<Payment> =>
  answerAsKept((await closePayment(deps, payment, 'cancelled', 'cancel')) ?? (await reread(deps, payment)))

/** The provider says it is final already: its report decides, and our answer follows. */
const followProvider = async (deps: CancelDeps, payment: Payment): Promise<Payment> => {
  const outcome = await applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'cancel')
  if (outcome.kind === 'unanswered') throw unanswered(outcome)
  const kept = await reread(deps, payment)
  // Final upstream, but its money is not visible yet: neither answer would be true now.
  if (kept.status === 'pending') throw unanswered({ reason: 'server_error' })
  return answerAsKept(kept)
}

const whenAnswered = async (deps: CancelDeps, payment: Payment, answer: CancelAnswer): Promise<Payment> => {
  switch (answer.kind) {
    case 'cancelled':
    case 'not_cancellable':
      return closeAsCancelled(deps, payment)
    case 'final':
      return followProvider(deps, payment)
    case 'not_found':
      // A wrong or rotated key looks just like this: nothing may be concluded from it.
      await recordSuspense(
        deps,
        finding({ subject: payment.paymentId, cause: 'not_found_upstream', payment, now: deps.now() }),
      )
      throw unanswered({ reason: 'server_error' })
    case 'unanswered':
      throw unanswered(answer)
    default:
      return assertNever(answer)
  }
}

/**
 * Cancels a pending payment (spec 4.4), upstream first: a cancelled payment must not stay payable. When the customer
 * paid first, the payment succeeds and the cancel is refused; a cancel lost half-way answers 200 on retry. No event.
 */
export const cancelPayment = async (
  deps: CancelDeps,
  input: { readonly clientId: ClientId; readonly id: string },
): Promise<Payment> => {
  const payment = await findPayment(deps, input.clientId, input.id)
  if (payment.status !== 'pending') throw invalid(`payment cannot be cancelled in status=${payment.status}`)
  const now = deps.now()
  const noted = await noteCancelRequested(deps, payment.paymentId, now)
  if (!noted.applied) return answerAsKept(await reread(deps, payment))
  const answer = await deps.provider.cancelRequest(payment.paymentRequestId, PROVIDER_READ_TIMEOUT_MS)
  return whenAnswered(deps, { ...payment, cancelRequestedAt: payment.cancelRequestedAt ?? now }, answer)
}
