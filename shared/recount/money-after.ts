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

/** A payment as one transaction would leave it, with what that tells the operators. */
export type MoneyAfter = { readonly after: Payment; readonly noted?: Suspense | undefined }

const UNASKED = 'nothing was written; try again'

const posted = (payment: Payment, by: Posting['by'], at: Timestamp): MoneyAfter => ({
  after: planPosting({ payment, by }, at).after,
  ...('assumed' in by && { noted: by.assumed }),
})

const assumedBy = (payment: Payment, now: Timestamp): Posting['by'] => ({
  assumed: finding({ subject: payment.paymentId, cause: 'fee_assumed', payment, now }),
})

/** Posted by its own entry, which says all that its settled row said. */
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
 * An open payment that was posted, as its entries can be of: by its own entry; else by the provider's row, or without one,
 * where only entries of what went back came with the restore.
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
  if (answer.kind === 'unanswered') throw providerFailure(answer, UNASKED)
  const row = answer.kind === 'settled' ? settledRowOf(deps, payment, answer.transaction) : undefined
  const assumed = posted(payment, assumedBy(payment, first.postedAt), first.postedAt)
  return row ? [posted(payment, { row }, first.postedAt), assumed] : [assumed]
}

/** A posted payment whose settled row was booked late: its entry says all of it. */
export const lateAfter = (payment: Payment, { postedAt: lateRowAt, providerMinor, ...entry }: Entry): MoneyAfter => ({
  after: {
    ...payment,
    lateRowAt,
    ownRow: { transactionId: entry.providerTransactionId ?? '', providerMinor },
    providerSettledAt: entry.providerSettledAt,
  },
})

const ROWS = 50

/** The provider's row of an id, among those of the payment. Throws 502 when it cannot be asked. */
const askForRow = async (
  deps: RecountDeps,
  { creditedProviderPaymentId: providerPaymentId, providerAttempts, paymentId }: Payment,
  transactionId: string,
): Promise<ProviderTransaction | undefined> => {
  const references = providerAttempts.map(({ number }) => `${paymentId}-${number}`)
  for (const filter of [{ providerPaymentId }, ...references.map((reference) => ({ reference }))]) {
    const answer = await deps.provider.listTransactions({ ...filter, limit: ROWS }, PROVIDER_READ_TIMEOUT_MS)
    if (answer.kind === 'unanswered') throw providerFailure(answer, UNASKED)
    const rows = answer.kind === 'found' ? answer.value.transactions : []
    const row = rows.find((one) => one.transactionId === transactionId)
    if (row) return row
  }
  return undefined
}

type MovedBy = {
  readonly transactionId: string
  /** Of its entries, or of its event. */
  readonly at: Timestamp
  readonly strays: readonly Entry[]
  /** What the house has given up of the client, as the audit counts it. */
  readonly writtenOffMinor: Minor
}

/** What the house took of money that came again: as its entry says, else as it would take now. */
const clawedOf = ({ strays, writtenOffMinor }: MovedBy, netMinor: Minor): Minor => {
  const entry = strays.find(({ type }) => type === 'written_off')
  return entry ? less(ZERO, entry.netMinor) : clawedBack({ writtenOffMinor }, netMinor)
}

const apply = (payment: Payment, row: MoneyRow, by: MovedBy): MoneyAfter | undefined => {
  const moved = moveMoney(moneyOf(payment), row)
  if (moved === undefined) return undefined
  const { netMinor } = moved.figures
  const after = movedPayment(payment, row, moved)
  const noted = movedMoney(payment, row, netMinor, by.at)
  if (payment.openAt === undefined) {
    return { after: movedPosted(after, { clawedMinor: clawedOf(by, netMinor), postedAt: by.at }), noted }
  }
  return { after: row.isOwnRow === true ? voidedOpen(after, by.at) : after, noted }
}

/** A payment whose money a row moved, as the provider shows that row. */
export const movedAfter = async (deps: RecountDeps, payment: Payment, by: MovedBy): Promise<readonly MoneyAfter[]> => {
  const transaction = await askForRow(deps, payment, by.transactionId)
  const heard = transaction && moneyRowOf(transaction)
  const row = heard && transaction && withDisputed(heard, transaction, payment)
  if (row === undefined || hasMoved(payment, row)) return []
  return [apply(payment, withProviderLeg(payment, row), by)].flatMap((one) => one ?? [])
}
