import { reversedEventName } from '../event/event.ts'
import { type PaymentId, paymentIdOf, referenceOf } from '../ids.ts'
import type { Entry } from '../journal/entry.ts'
import { findUnclaimedRow } from '../journal/house-store.ts'
import type { Movement } from '../journal/payment-money.ts'
import { less } from '../money.ts'
import { askForNews, type NewsSubject } from '../payment/news/ask-for-news.ts'
import { requestsOf } from '../payment/news/refresh-payment.ts'
import { isUnheld } from '../payment/news/succeed-payment.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { listRows } from '../posting/ask-for-rows.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { settledRowOf } from '../posting/post-payments.ts'
import { providerFailure } from '../provider/provider.ts'
import { moneyRowOf, withDisputedAmount } from '../sync/provider-row.ts'
import type { Difference } from '../verdict/difference.ts'
import type { RecountDeps } from './plan.ts'

/**
 * The capture that paid the payment, of any attempt, so that later news of it is not credited
 * again. A capture in suspense does not count.
 */
export async function askForCapture(deps: RecountDeps, payment: StoredPayment) {
  // An attempt without an answer has no known request id, only its reference.
  const rows = await Array.fromAsync(referencesOf(payment), (reference) =>
    rowsOf(deps, { reference }),
  )
  const ids = [
    ...(payment.rememberedProviderPaymentIds ?? []),
    ...rows.flat().flatMap((row) => (row.type === 'payment' ? [row.providerPaymentId] : [])),
  ]
  const subjects: readonly NewsSubject[] = [
    ...requestsOf(payment).map((paymentRequestId) => ({ paymentRequestId })),
    ...ids.map((providerPaymentId) => ({ providerPaymentId })),
  ]
  for (const subject of subjects) {
    const capture = await ownCapture(deps, payment, subject)
    if (capture) return capture
  }
  return undefined
}

async function ownCapture(deps: RecountDeps, payment: StoredPayment, subject: NewsSubject) {
  const { notionalMinor } = payment.status === 'creating' ? payment.request : payment
  const answer = await askForNews(deps, subject)
  if (answer.kind === 'unanswered') throw providerFailure(answer, SILENT)
  const capture = answer.kind === 'news' ? answer.news.capture : undefined
  const isOwn =
    capture !== undefined &&
    paymentIdOf(capture.reference) === payment.paymentId &&
    capture.currency === 'IDR' &&
    capture.capturedMinor === notionalMinor
  return isOwn && (await isUnheld(deps, capture)) ? capture : undefined
}

/**
 * The payment's own row as its entry has booked it. Since then the provider may have voided it, or
 * given its fee back: then the entry counts.
 */
export async function settledRowAt(deps: RecountDeps, payment: Payment, entry: Entry) {
  const { providerTransactionId = '', providerMinor, postedAt } = entry
  const row = await askForRow(deps, payment, providerTransactionId)
  if (row === undefined) return undefined
  const isLess = row.status === 'reversed' || row.providerMinor > providerMinor
  const isChanged = row.updatedAt > postedAt && isLess
  const booked = { providerMinor, keptMinor: less(row.amountMinor, providerMinor) }
  const settledAt = row.settledAt && entry.providerSettledAt
  const shown = { ...row, ...(isChanged && booked), settledAt }
  return settledRowOf(deps, payment, { ...shown, status: 'success' })
}

/**
 * Whether the provider shows the capture, and the rows of what is lost as the payment shows them:
 * a forged payment looks the same. Of a refund by our bank the provider has no row.
 */
export async function isProven(deps: RecountDeps, payment: Payment, lost: readonly Difference[]) {
  const { status, capture, movements, feeStatus, finalFee, providerFeeMinor } = payment
  if (status !== 'succeeded' || capture === undefined) return status !== 'succeeded'
  // The customer may have paid again since.
  const paidBy = await ownCapture(deps, payment, { providerPaymentId: capture.providerPaymentId })
  if (paidBy?.providerPaymentId !== capture.providerPaymentId) return false
  const lostIds = new Set<unknown>(lost.flatMap(({ id, expected }) => [id, expected]))
  const lostEntries = entriesOf(payment).filter(({ entryId }) => lostIds.has(entryId))
  for (const entry of lostEntries) {
    const isOwn = entry.type === 'payment' || entry.type === 'late_row'
    if (!isOwn || entry.providerTransactionId === undefined) continue
    const own = await settledRowAt(deps, payment, entry)
    // A fee that is billed later is the tariff's, whatever the row shows.
    const isOfTariff = feeStatus !== 'actual' || finalFee?.invoiced === true
    const isOfFee = isOfTariff || own?.feeMinor === providerFeeMinor
    if (own?.providerMinor !== entry.providerMinor || !isOfFee) return false
  }
  for (const movement of movements) {
    const { transactionId, isByBank } = movement
    const isLost = lostEntries.some((entry) => entry.providerTransactionId === transactionId)
    if (isByBank || !(isLost || lostIds.has(reversedEventName(movement)))) continue
    if (!(await isMoved(deps, payment, movement))) return false
  }
  return true
}

async function isMoved(deps: RecountDeps, payment: Payment, movement: Movement) {
  const { transactionId, type, amountMinor, providerMinor, notedAt } = movement
  const row = await askForRow(deps, payment, transactionId)
  if (row === undefined) {
    // An operator may have found whose row it was: then the house has booked it.
    const taken = type === 'refund' && (await findUnclaimedRow(deps, transactionId))
    return taken && taken.providerMinor === providerMinor
  }
  const isVoid = type === 'reversal'
  const moved = moneyRowOf(isVoid ? row : { ...row, status: 'success' })
  const disputed = moved && withDisputedAmount(moved, row, payment)
  if (disputed?.type === type && (isVoid || disputed.amountMinor === amountMinor)) return true
  // Since then the provider may have ended it, or its fee.
  const isTaken = type === 'refund' || type === 'chargeback'
  return isTaken && row.type === 'return' && row.updatedAt > notedAt
}

/** The row that moved the payment's money. Throws 502 if the provider does not answer. */
export async function askForRow(deps: RecountDeps, payment: Payment, transactionId: string) {
  const providerPaymentId = payment.capture?.providerPaymentId
  const filters = [
    // Without an id the provider lists every payment.
    ...(providerPaymentId ? [{ providerPaymentId }] : []),
    ...referencesOf(payment).map((reference) => ({ reference })),
  ]
  for (const by of filters) {
    const rows = await rowsOf(deps, by)
    const row = rows.find(({ transactionId: id }) => id === transactionId)
    if (row) return row
  }
  return undefined
}

export const SILENT = 'the provider did not answer'

function referencesOf({ paymentId, attempt }: { paymentId: PaymentId; attempt: number }) {
  return Array.from({ length: attempt }, (_, at) => referenceOf(paymentId, at + 1))
}

async function rowsOf(...asked: Parameters<typeof listRows>) {
  const answer = await listRows(...asked)
  if (answer.kind === 'unanswered') throw providerFailure(answer, SILENT)
  return answer.rows
}
