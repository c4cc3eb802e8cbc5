import type { Deps } from '../../deps.ts'
import { GatewayError } from '../../errors.ts'
import { recordChange } from '../../operator/audit-record-store.ts'
import { providerFailure } from '../../provider/provider.ts'
import type { StoredPayment } from '../payment.ts'
import { findAnyPayment, markDueNow } from '../payment-store.ts'
import { applyProviderNews } from './apply-news.ts'
import type { NewsDeps } from './ask-for-news.ts'

/** Asks the provider for an operator, and applies its answers. Throws 502 unless all came. */
export async function refreshPayment(
  deps: NewsDeps & Pick<Deps, 'newId' | 'invocation'>,
  id: string,
  operator: string,
): Promise<StoredPayment> {
  const payment = await findAnyPayment(deps, id)
  const subjects = [
    ...(payment.rememberedProviderPaymentIds ?? [])
      .values()
      .map((providerPaymentId) => ({ providerPaymentId })),
    ...requestsOf(payment).map((paymentRequestId) => ({ paymentRequestId })),
  ]
  const outcomes = await Array.fromAsync(subjects, (subject) =>
    applyProviderNews(deps, subject, 'operator'),
  )
  const paymentNow = await findAnyPayment(deps, id)
  const { paymentId, clientId, status } = paymentNow
  if (status !== payment.status) {
    // The provider made the transition, and the operator's request applied it.
    const before = { status: payment.status }
    const record = { subject: paymentId, clientId, operator, before, after: { status } }
    await recordChange(deps, { ...record, action: 'refresh-payment' }, {})
  }
  const failure = outcomes.find((outcome) => outcome.kind === 'unanswered')
  if (failure) {
    throw providerFailure(failure, `the payment is ${status} (${failure.reason})`, {
      actionHint:
        'Try again. If it fails again, check the provider secret and the status page of the ' +
        'provider.',
    })
  }
  const isHidden = outcomes.some(({ kind }) => kind === 'not_shown')
  const isMissing = outcomes.some((outcome) => outcome.kind === 'not_found' && outcome.isEnded)
  if (status === 'pending' && (isHidden || isMissing)) {
    await markDueNow(deps, paymentId, deps.now())
    const [message, actionHint] = isHidden ? HIDDEN : MISSING
    throw new GatewayError('server_error', message, { actionHint })
  }
  return paymentNow
}

const HIDDEN = [
  'the provider reports the payment as paid but does not show the money yet',
  'No action is needed: the gateway checks the payment again within a minute.',
] as const

const MISSING = [
  'the request has ended, but the provider does not find the payment that it names',
  'No action is needed now: the gateway closes the payment an hour after its expiry. If ' +
    'many payments are missing, check the provider key.',
] as const

/** The payment's own provider request, and the requests of attempts that never committed. */
export function requestsOf(payment: StoredPayment): readonly string[] {
  const attemptedRequests = payment.providerAttempts.flatMap(
    ({ paymentRequestId }) => paymentRequestId ?? [],
  )
  return payment.status === 'creating'
    ? attemptedRequests
    : [...new Set([payment.paymentRequestId, ...attemptedRequests])]
}
