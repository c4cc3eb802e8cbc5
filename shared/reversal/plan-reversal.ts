import { takeBackCredit, type Window } from '../ledger/ledger-store.ts'
import { countReversal, type LedgerReversal, putReversal } from '../ledger/reversal-store.ts'
import { type Minor, plus, ZERO } from '../money.ts'
import type { Payment, Reversal } from '../payment/payment.ts'
import { noteReversal } from '../payment/payment-store.ts'
import { finding, receivable } from '../suspense/record-suspense.ts'
import type { FindingCause, Suspense } from '../suspense/suspense.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import type { Timestamp } from '../time.ts'

/** Money of a credited payment that the provider has taken back, by one of its transactions. */
export type MoneyBack = {
  readonly transactionId: string
  readonly kind: Reversal['kind']
  readonly amountMinor: Minor
}

/** What is written, all or none, and what the operators are told of it. */
export type Planned = { readonly steps: Steps<string>; readonly noted: Suspense }

/** A void and a reversal take all of it, whatever their row says; else it takes one transaction of the whole amount. */
const isAll = ({ kind, amountMinor }: MoneyBack, { notionalMinor }: Payment): boolean =>
  kind === 'voided' || kind === 'reversed' || amountMinor >= notionalMinor

/** Whether the whole payment goes back by this, for the first time. */
export const isWhole = (back: MoneyBack, payment: Payment): boolean =>
  isAll(back, payment) && payment.reversal?.wholeAt === undefined

/** Everything has gone back before: nothing of it is left to be deducted, or owed. */
const isBeyondWhole = ({ reversal }: Payment): boolean => reversal?.wholeAt !== undefined

const reversalOf = (payment: Payment, back: MoneyBack, at: Timestamp): Reversal => ({
  ...payment.reversal,
  kind: back.kind,
  amountMinor: plus(payment.reversal?.amountMinor ?? ZERO, back.amountMinor),
  at,
  ...(isWhole(back, payment) && { wholeAt: at }),
})

/** The payment's own step: the condition of all the others. */
export const notePayment = (payment: Payment, back: MoneyBack, at: Timestamp, deductedAt?: Timestamp) =>
  noteReversal(payment, { ...reversalOf(payment, back, at), ...(deductedAt && { deductedAt }) }, back.transactionId)

export const findingOf = (payment: Payment, back: MoneyBack, cause: FindingCause, now: Timestamp): Suspense => ({
  ...finding({ subject: back.transactionId, cause, payment, now }),
  amountMinor: back.amountMinor,
  providerPaymentId: payment.creditedProviderPaymentId,
})

/** What a client owes: of a whole payment its net, of a part what went back, and nothing beyond the whole. */
export const owedFor = (payment: Payment, back: MoneyBack, now: Timestamp): Suspense => {
  if (isBeyondWhole(payment)) return findingOf(payment, back, 'reversed_upstream', now)
  const whole = isWhole(back, payment)
  const { transactionId } = back
  return receivable({
    transactionId,
    cause: whole ? 'reversed_after_settlement' : 'reversed_in_part',
    payment,
    amountMinor: whole ? payment.netMinor : back.amountMinor,
    now,
  })
}

/** Under which id a part that went back by a transaction is owed. */
export const partOwedId = (transactionId: string): string => `${transactionId}#reversed_in_part`

const ledgerReversal = (payment: Payment, { reversalSeq = 0 }: Window, at: Timestamp): LedgerReversal => ({
  paymentId: payment.paymentId,
  paidAt: payment.paidAt ?? at,
  notionalMinor: payment.notionalMinor,
  providerFeeMinor: payment.providerFeeMinor,
  markupMinor: payment.markupMinor,
  netMinor: payment.netMinor,
  seq: reversalSeq + 1,
  at,
})

/**
 * Before a settlement has swept the payment: whole, its net leaves the ledger and an estimated fee becomes `assumed`; of a
 * part nothing leaves it, and the settlement that sweeps it will be marked. Refused when one has swept it meanwhile.
 */
export const planUnswept = (payment: Payment, back: MoneyBack, window: Window, at: Timestamp): Planned => {
  const { clientId } = payment
  const reversal = ledgerReversal(payment, window, at)
  if (isWhole(back, payment)) {
    const noted = findingOf(payment, back, 'reversal_deducted', at)
    return {
      noted,
      steps: {
        payment: notePayment(payment, back, at, at),
        ledger: takeBackCredit(payment, payment.netMinor, at),
        reversal: putReversal(clientId, reversal),
        window: countReversal(clientId, reversal.paidAt, window),
        suspense: ensureSuspense(noted),
      },
    }
  }
  const noted = owedFor(payment, back, at)
  const steps = { payment: notePayment(payment, back, at), suspense: ensureSuspense(noted) }
  if (isBeyondWhole(payment)) return { noted, steps }
  return {
    noted,
    steps: {
      ...steps,
      reversal: putReversal(clientId, { ...reversal, part: true }),
      window: countReversal(clientId, reversal.paidAt, window),
    },
  }
}
