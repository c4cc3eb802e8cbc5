import { mapInChunks } from '../chunks.ts'
import { reversedEventName } from '../event/event.ts'
import { type PaymentId, paymentIdOf, referenceOf } from '../ids.ts'
import { askForNews, type NewsSubject } from '../payment/news/ask-for-news.ts'
import { requestsOf } from '../payment/news/refresh-payment.ts'
import { isUnheld } from '../payment/news/succeed-payment.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { settledRowOf } from '../posting/post-payments.ts'
import {
  type ProviderPayment,
  providerFailure,
  type TransactionFilter,
} from '../provider/provider.ts'
import { moneyRowOf, withDisputedAmount } from '../sync/provider-row.ts'
import type { Difference } from '../verdict/difference.ts'
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

/** The payment's own row as it was when it was booked: it may be void by now. */
export async function settledRowAt(deps: RecountDeps, payment: Payment, transactionId = '') {
  const row = await askForRow(deps, payment, transactionId)
  return row && settledRowOf(deps, payment, { ...row, status: 'success' })
}

/**
 * Whether the provider shows the capture, and the rows of what is lost as the payment shows them:
 * a forged payment looks the same. Of a refund by our bank the provider has no row.
 */
export async function isProven(
  deps: RecountDeps,
  payment: Payment,
  lost: readonly Difference[],
): Promise<boolean> {
  const { status, capture, ownRow, movements, feeStatus, providerFeeMinor } = payment
  if (status !== 'succeeded') return true
  const paidBy = await askForCapture(deps, payment)
  if (paidBy?.providerPaymentId !== capture?.providerPaymentId) return false
  const lostIds = new Set<unknown>(lost.flatMap(({ id, expected }) => [id, expected]))
  const lostEntries = entriesOf(payment).filter(({ entryId }) => lostIds.has(entryId))
  const isLost = (row: { readonly transactionId: string }) =>
    lostEntries.some((entry) => entry.providerTransactionId === row.transactionId)
  if (ownRow && isLost(ownRow)) {
    const own = await settledRowAt(deps, payment, ownRow.transactionId)
    const isOfFee = feeStatus !== 'actual' || own?.feeMinor === providerFeeMinor
    if (own?.providerMinor !== ownRow.providerMinor || !isOfFee) return false
  }
  for (const movement of movements) {
    const { transactionId, type, amountMinor, isByBank } = movement
    if (isByBank || !(isLost(movement) || lostIds.has(reversedEventName(movement)))) continue
    const row = await askForRow(deps, payment, transactionId)
    const isVoid = type === 'reversal'
    const moved = row && moneyRowOf(isVoid ? row : { ...row, status: 'success' })
    const disputed = moved && withDisputedAmount(moved, row, payment)
    if (disputed?.type !== type || !(isVoid || disputed.amountMinor === amountMinor)) return false
  }
  return true
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
