import { mapInChunks } from '../chunks.ts'
import { paymentIdOf, referenceOf } from '../ids.ts'
import { askForNews, type NewsSubject } from '../payment/news/ask-for-news.ts'
import { requestsOf } from '../payment/news/refresh-payment.ts'
import type { StoredPayment } from '../payment/payment.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderPayment } from '../provider/provider.ts'
import { providerFailure } from '../provider/provider-failure.ts'
import { findSuspense } from '../suspense/suspense-store.ts'
import type { RecountDeps } from './repair.ts'

const ADVICE = 'nothing was written; try again'

const amountOf = (payment: StoredPayment) =>
  payment.status === 'creating' ? payment.request.notionalMinor : payment.notionalMinor

const ROWS = 10

/** The provider's payments under an attempt's reference, because an unanswered attempt has no known request id. */
const bookedUnder = async (deps: RecountDeps, reference: string): Promise<readonly NewsSubject[]> => {
  const answer = await deps.provider.listTransactions({ reference, limit: ROWS }, PROVIDER_READ_TIMEOUT_MS)
  if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
  const rows = answer.kind === 'found' ? answer.value.transactions : []
  return rows.flatMap(({ type, providerPaymentId }) => (type === 'payment' ? [{ providerPaymentId }] : []))
}

const subjectsOf = async (deps: RecountDeps, payment: StoredPayment): Promise<readonly NewsSubject[]> => {
  const references = Array.from({ length: payment.attempt }, (_, at) => referenceOf(payment.paymentId, at + 1))
  const booked = await mapInChunks(references, 1, (reference) => bookedUnder(deps, reference))
  const remembered = [...(payment.rememberedProviderPaymentIds ?? [])]
  return [
    ...requestsOf(payment).map((paymentRequestId) => ({ paymentRequestId })),
    ...remembered.map((providerPaymentId) => ({ providerPaymentId })),
    ...booked.flat(),
  ]
}

const mayHavePaid = (payment: StoredPayment, { reference, currency, capturedMinor }: ProviderPayment): boolean =>
  paymentIdOf(reference) === payment.paymentId && currency === 'IDR' && capturedMinor === amountOf(payment)

/**
 * Asks the provider for the capture that paid a payment, on any of its attempts, because no event names it. A capture
 * in suspense is not it. Undefined if the provider shows none. Throws 502 if the provider does not answer.
 */
export const askCapture = async (deps: RecountDeps, payment: StoredPayment): Promise<ProviderPayment | undefined> => {
  for (const subject of await subjectsOf(deps, payment)) {
    const answer = await askForNews(deps, subject)
    if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
    const capture = answer.kind === 'news' ? answer.news.capture : undefined
    if (capture === undefined || !mayHavePaid(payment, capture)) continue
    if ((await findSuspense(deps, capture.providerPaymentId)) === undefined) return capture
  }
  return undefined
}
