import { mapInChunks } from '../chunks.ts'
import { type PaymentId, paymentIdOf, referenceOf } from '../ids.ts'
import { askForNews, type NewsSubject } from '../payment/news/ask-for-news.ts'
import { requestsOf } from '../payment/news/refresh-payment.ts'
import { isUnheld } from '../payment/news/succeed-payment.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import {
  type ProviderPayment,
  providerFailure,
  type TransactionFilter,
} from '../provider/provider.ts'
import type { RecountDeps } from './plan.ts'

/**
 * The capture that paid the payment, of any attempt, so that later news of it is not credited
 * again. A capture in suspense does not count.
 */
export async function askForCapture(
  deps: RecountDeps,
  payment: StoredPayment,
): Promise<ProviderPayment | undefined> {
  // An attempt without an answer has no known request id, only its reference.
  const rows = await mapInChunks(referencesOf(payment), 1, (reference) =>
    listRows(deps, { reference, limit: 10 }),
  )
  const ids = [
    ...(payment.rememberedProviderPaymentIds ?? []),
    ...rows.flat().flatMap((row) => (row.type === 'payment' ? [row.providerPaymentId] : [])),
  ]
  const subjects: readonly NewsSubject[] = [
    ...requestsOf(payment).map((paymentRequestId) => ({ paymentRequestId })),
    ...ids.map((providerPaymentId) => ({ providerPaymentId })),
  ]
  const { notionalMinor } = payment.status === 'creating' ? payment.request : payment
  for (const subject of subjects) {
    const answer = await askForNews(deps, subject)
    if (answer.kind === 'unanswered') throw providerFailure(answer, SILENT)
    const capture = answer.kind === 'news' ? answer.news.capture : undefined
    const isOwn =
      capture !== undefined &&
      paymentIdOf(capture.reference) === payment.paymentId &&
      capture.currency === 'IDR' &&
      capture.capturedMinor === notionalMinor
    if (isOwn && (await isUnheld(deps, capture))) return capture
  }
  return undefined
}

/** The row that moved the payment's money. Throws 502 if the provider does not answer. */
export async function askForRow(deps: RecountDeps, payment: Payment, transactionId: string) {
  const providerPaymentId = payment.capture?.providerPaymentId
  const filters = [
    { providerPaymentId },
    ...referencesOf(payment).map((reference) => ({ reference })),
  ]
  for (const by of filters) {
    const rows = await listRows(deps, { ...by, limit: 50 })
    const row = rows.find(({ transactionId: id }) => id === transactionId)
    if (row) return row
  }
  return undefined
}

export const SILENT = 'the provider did not answer'

function referencesOf({ paymentId, attempt }: { paymentId: PaymentId; attempt: number }) {
  return Array.from({ length: attempt }, (_, at) => referenceOf(paymentId, at + 1))
}

async function listRows({ provider }: RecountDeps, filter: TransactionFilter) {
  const answer = await provider.listTransactions(filter)
  if (answer.kind === 'unanswered') throw providerFailure(answer, SILENT)
  return answer.kind === 'found' ? answer.value.transactions : []
}
