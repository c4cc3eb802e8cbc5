import type { Entry } from '../journal/entry.ts'
import { hasMoved, type MoneyRow, moveMoney } from '../journal/payment-money.ts'
import { less, type Minor, ZERO } from '../money.ts'
import { askForOwnRow } from '../payment/fee/actual-fee.ts'
import type { Payment } from '../payment/payment.ts'
import { clawedBack, movedPayment, movedPosted, voidedOpen, withProviderLeg } from '../posting/moved-payment.ts'
import { moneyOf } from '../posting/payment-entries.ts'
import { type Posting, planPosting } from '../posting/post-payments.ts'
import { settledRowOf } from '../posting/settled-row.ts'
import { PROVIDER_READ_TIMEOUT_MS, type ProviderTransaction } from '../provider/provider.ts'
import { providerFailure } from '../provider/provider-failure.ts'
import { finding, movedMoney } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { moneyRowOf, withDisputed } from '../sync/money-row.ts'
import type { Timestamp } from '../time.ts'
import type { RecountDeps } from './repair.ts'

/** A payment after one transaction, with the finding for the operators. */
export type MoneyAfter = { readonly after: Payment; readonly suspense?: Suspense | undefined }

const ADVICE = 'nothing was written; try again'

const posted = (payment: Payment, by: Posting['by'], at: Timestamp): MoneyAfter => ({
  after: planPosting({ payment, by }, at).after,
  ...('assumed' in by && { suspense: by.assumed }),
})

const assumedBy = (payment: Payment, now: Timestamp): Posting['by'] => ({
  assumed: finding({ subject: payment.paymentId, cause: 'fee_assumed', payment, now }),
})

/** The payment posted by its own entry, which has all fields of the settled row. */
const byOwnEntry = (payment: Payment, { feeMinor, postedAt, ...entry }: Entry): MoneyAfter => {
  const { providerTransactionId: transactionId, providerSettledAt: settledAt, providerMinor } = entry
  if (transactionId === undefined || settledAt === undefined)
    return posted(payment, assumedBy(payment, postedAt), postedAt)
  const invoiced = payment.finalFee?.invoiced
  return posted(
    payment,
    { row: { feeMinor, transactionId, settledAt, providerMinor, ...(invoiced && { invoiced }) } },
    postedAt,
  )
}

/**
 * The possible posted forms of an open payment: by its own entry; if the restore has only reversal entries, by the
 * provider's row or with an assumed fee. Throws 502 if the provider does not answer.
 */
export const postedAfter = async (
  deps: RecountDeps,
  payment: Payment,
  strays: readonly Entry[],
): Promise<readonly MoneyAfter[]> => {
  const own = strays.find(({ type }) => type === 'payment')
  if (own) return [byOwnEntry(payment, own)]
  const [first] = strays
  if (first === undefined) return []
  const answer = await askForOwnRow(deps, payment)
  if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
  const row = answer.kind === 'settled' ? settledRowOf(deps, payment, answer.transaction) : undefined
  const assumed = posted(payment, assumedBy(payment, first.postedAt), first.postedAt)
  return row ? [posted(payment, { row }, first.postedAt), assumed] : [assumed]
}

/** A posted payment whose settled row was booked late: the entry has all of the row's fields. */
export const lateAfter = (payment: Payment, { postedAt: lateRowAt, providerMinor, ...entry }: Entry): MoneyAfter => ({
  after: {
    ...payment,
    lateRowAt,
    ownRow: { transactionId: entry.providerTransactionId ?? '', providerMinor },
    providerSettledAt: entry.providerSettledAt,
  },
})

const ROWS = 50

/** The payment's provider row with this id. Throws 502 if the provider does not answer. */
const askForRow = async (
  deps: RecountDeps,
  { creditedProviderPaymentId: providerPaymentId, providerAttempts, paymentId }: Payment,
  transactionId: string,
): Promise<ProviderTransaction | undefined> => {
  const references = providerAttempts.map(({ number }) => `${paymentId}-${number}`)
  for (const filter of [{ providerPaymentId }, ...references.map((reference) => ({ reference }))]) {
    const answer = await deps.provider.listTransactions({ ...filter, limit: ROWS }, PROVIDER_READ_TIMEOUT_MS)
    if (answer.kind === 'unanswered') throw providerFailure(answer, ADVICE)
    const rows = answer.kind === 'found' ? answer.value.transactions : []
    const row = rows.find((one) => one.transactionId === transactionId)
    if (row) return row
  }
  return undefined
}

type MovedBy = {
  readonly transactionId: string
  /** The time of its entries, or of its event. */
  readonly at: Timestamp
  readonly strays: readonly Entry[]
  /** The client's written-off sum, as the audit counts it. */
  readonly writtenOffMinor: Minor
}

/** The part of money returned by a won dispute that pays a write-off back: by its entry, else by the present sum. */
const clawedOf = ({ strays, writtenOffMinor }: MovedBy, netMinor: Minor): Minor => {
  const entry = strays.find(({ type }) => type === 'written_off')
  return entry ? less(ZERO, entry.netMinor) : clawedBack({ writtenOffMinor }, netMinor)
}

const apply = (payment: Payment, row: MoneyRow, by: MovedBy): MoneyAfter | undefined => {
  const moved = moveMoney(moneyOf(payment), row)
  if (moved === undefined) return undefined
  const { netMinor } = moved.figures
  const after = movedPayment(payment, row, moved)
  const suspense = movedMoney(payment, row, netMinor, by.at)
  if (payment.openAt === undefined) {
    return { after: movedPosted(after, { clawedMinor: clawedOf(by, netMinor), postedAt: by.at }), suspense }
  }
  return { after: row.isOwnRow === true ? voidedOpen(after, by.at) : after, suspense }
}

/** The payment after the provider's row with this id; empty if the row is missing or already booked. */
export const movedAfter = async (deps: RecountDeps, payment: Payment, by: MovedBy): Promise<readonly MoneyAfter[]> => {
  const transaction = await askForRow(deps, payment, by.transactionId)
  const moneyRow = transaction && moneyRowOf(transaction)
  const row = moneyRow && transaction && withDisputed(moneyRow, transaction, payment)
  if (row === undefined || hasMoved(payment, row)) return []
  return [apply(payment, withProviderLeg(payment, row), by)].flatMap((one) => one ?? [])
}
