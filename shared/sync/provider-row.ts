import type { TableDeps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import type { MoneyRow } from '../journal/payment-money.ts'
import type { NewsDeps } from '../payment/news/ask-for-news.ts'
import type { Payment, StoredPayment } from '../payment/payment.ts'
import { findStoredPayment, isForeign } from '../payment/payment-store.ts'
import { isInRupiah, type ProviderTransaction } from '../provider/provider.ts'
import {
  finding,
  type NamedPayment,
  recordSuspense,
  transferCase,
} from '../suspense/record-suspense.ts'
import type { FindingCause, Suspense } from '../suspense/suspense.ts'
import { findSuspense, findSuspenseByIds, movementFindingIds } from '../suspense/suspense-store.ts'
import { addMs, DAY_MS, type Timestamp } from '../time.ts'

export type RowWithPayment = {
  readonly transaction: ProviderTransaction
  readonly payment: Payment | undefined
}

/**
 * `booked`: the money is credited or in suspense, and the sync reads the row again until it has
 * settled. `done`: nothing is left to do. `open`: the sync checks the row again. `unasked`: like
 * `open`, but this run may ask the provider nothing more. `passed_over`: the row concerns no
 * payment, or is not final.
 */
export type Reconciled =
  | { readonly booked: Payment | undefined }
  | 'done'
  | 'open'
  | 'unasked'
  | 'passed_over'

/** Undefined for a row that pays a payment, or moves no money. */
export function moneyRowOf(transaction: ProviderTransaction): MoneyRow | undefined {
  const { type, status, reversalKind: kind } = transaction
  const { transactionId, amountMinor, feeMinor, providerMinor, createdAt } = transaction
  const shown = { transactionId, amountMinor, providerMinor, createdAt, at: transaction.updatedAt }
  const row = feeMinor === undefined ? shown : { ...shown, feeMinor }
  if (status === 'reversed') {
    if (type !== 'payment') return { ...row, type: 'reversal' }
    return { ...row, type: 'reversal', isOwnRow: true, kind: kind ?? 'reversed' }
  }
  if (status !== 'success') return undefined
  if (transaction.isDisputeWon) return { ...row, type: 'dispute_won' }
  if (type !== 'return') return undefined
  return { ...row, type: kind === 'chargeback' ? 'chargeback' : 'refund', kind: kind ?? 'refund' }
}

/** No book holds another currency. */
export function isOfOtherCurrency(transaction: ProviderTransaction): boolean {
  const isFinal = transaction.status !== 'pending' && transaction.status !== 'failed'
  return isFinal && !isInRupiah(transaction)
}

/** Undefined when an operator must find out the disputed amount. */
export function withDisputedAmount(
  row: MoneyRow,
  { disputedMinor, hasOpenFee }: ProviderTransaction,
  payment: Payment,
) {
  if (row.type !== 'chargeback') return row
  if (disputedMinor !== undefined) return { ...row, amountMinor: disputedMinor }
  // Without a fee the row may be the payment's whole amount.
  return row.amountMinor === payment.notionalMinor && !hasOpenFee ? row : undefined
}

/** For a row of type payment; `isAboutCredit` is for any row. */
export function isCreditedWith(
  stored: StoredPayment | undefined,
  row: ProviderTransaction,
): stored is Payment {
  return (
    stored?.status === 'succeeded' && stored.capture?.providerPaymentId === row.providerPaymentId
  )
}

/**
 * The payment that the row has moved before: the finding of that movement names the payment. A
 * finding alone proves nothing.
 */
export async function findMovedPayment(
  deps: NewsDeps,
  transaction: ProviderTransaction,
): Promise<Payment | undefined> {
  const item = await findMovementFinding(deps, transaction)
  const paymentId = ifValid(PaymentIdSchema, item?.paymentId)
  const stored = paymentId && (await findStoredPayment(deps, paymentId))
  if (stored?.status !== 'succeeded') return undefined
  const isMoved = stored.movements.some((row) => row.transactionId === transaction.transactionId)
  return isMoved ? stored : undefined
}

/** The finding that is written with each movement of a payment. */
export async function findMovementFinding(
  deps: TableDeps,
  { transactionId }: ProviderTransaction,
): Promise<Suspense | undefined> {
  const [item] = await findSuspenseByIds(deps, movementFindingIds(transactionId))
  return item
}

export async function findHeldMoney(deps: NewsDeps, { providerPaymentId }: ProviderTransaction) {
  const item = await findSuspense(deps, providerPaymentId)
  // Money that a payment is credited with after all is the payment's.
  return item?.kind === 'money' && item.resolution !== 'credited' ? item : undefined
}

/**
 * A finding with the transaction's figures, so that the operator need not search for them. The
 * subject is the row itself unless another subject is named.
 */
export function syncFinding(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  about: {
    readonly subject?: string
    /** By default nothing explains the row. */
    readonly cause?: FindingCause
    readonly payment?: NamedPayment | undefined
  },
): Suspense {
  const { payment, cause = 'transaction_unexplained', subject = transaction.transactionId } = about
  return {
    ...finding({ payment, cause, subject, now: deps.now() }),
    amountMinor: cause === 'fee_changed' ? transaction.keptMinor : transaction.amountMinor,
    providerPaymentId: transaction.providerPaymentId || undefined,
  }
}

export function paymentFinding(
  deps: NewsDeps,
  payment: Payment,
  row: ProviderTransaction,
  cause: FindingCause,
) {
  return syncFinding(deps, row, { subject: payment.paymentId, cause, payment })
}

/** The finding about the row itself. If the row is voided or fails later, that is another one. */
export function rowFinding(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  payment: NamedPayment | undefined,
) {
  const isReversal = moneyRowOf(transaction) !== undefined && isInRupiah(transaction)
  const cause = isReversal ? 'reversed_upstream' : undefined
  const { transactionId, type, status } = transaction
  const isOther = type !== 'payment' || !isInRupiah(transaction)
  const isUndone = isOther && (status === 'reversed' || status === 'failed')
  const subject = isUndone
    ? `${transactionId}#${status === 'failed' ? 'failure' : 'reversal'}`
    : transactionId
  return syncFinding(deps, transaction, { subject, cause, payment })
}

export function recordRowFinding(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  payment: NamedPayment | undefined,
) {
  return recordSuspense(deps, rowFinding(deps, transaction, payment))
}

/**
 * The case of money that left by a row which names a payment of ours in any form (design section
 * 10). Undefined for any other row, also for a dispute, whose amount includes a fee.
 */
export async function transferCaseOf(
  deps: NewsDeps,
  transaction: ProviderTransaction,
): Promise<Suspense | undefined> {
  const { mentionedPaymentIds = [], status, providerMinor } = transaction
  const isDispute = moneyRowOf(transaction)?.type === 'chargeback'
  const isOut = status === 'success' && providerMinor < 0 && !isDispute
  for (const id of isOut ? mentionedPaymentIds : []) {
    const payment = await findStoredPayment(deps, id)
    if (payment && !isForeign(payment)) return transferCase(payment, transaction, deps.now())
  }
  return undefined
}

/**
 * After the books undid the row the provider shows it again. A person must decide. `undoneAt`: of
 * a payment's row by the provider's clock; of a row of the house when the books undid it.
 */
export async function recordReinstatedRow(
  deps: NewsDeps,
  transaction: ProviderTransaction,
  undoneAt: Timestamp | undefined,
  payment: NamedPayment | undefined,
): Promise<void> {
  const { status, transactionId, updatedAt } = transaction
  // An older page shows the row as it was before.
  if (status !== 'success' || undoneAt === undefined || updatedAt <= undoneAt) return
  const subject = `${transactionId}#again`
  await recordSuspense(deps, syncFinding(deps, transaction, { payment, subject }))
}

/** How long a refund or a dispute waits for its final fee before it is booked as it is. */
const FEE_TIMEOUT_MS = 7 * DAY_MS

/** The sync reads such a row every day, and its new form too. */
export function waitsForFee(
  { now }: Pick<NewsDeps, 'now'>,
  { hasOpenFee, status, createdAt }: ProviderTransaction,
): boolean {
  const isOpen = hasOpenFee === true && status === 'success'
  return isOpen && addMs(createdAt, FEE_TIMEOUT_MS) > now()
}

/** How long an open transaction is retried before an operator must check it. */
const OPEN_TIMEOUT_MS = 2 * DAY_MS

export function isYoung(
  { now }: Pick<NewsDeps, 'now'>,
  { updatedAt }: ProviderTransaction,
): boolean {
  return addMs(updatedAt, OPEN_TIMEOUT_MS) > now()
}
