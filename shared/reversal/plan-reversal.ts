import type { SettlementId } from '../ids.ts'
import { takeBackCredit, type Window } from '../ledger/ledger-store.ts'
import { countReversal, type LedgerReversal, putReversal } from '../ledger/reversal-store.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'
import { type Payment, placeOf, type Reversal } from '../payment/payment.ts'
import { noteReversal } from '../payment/payment-store.ts'
import { finding, receivable } from '../suspense/record-suspense.ts'
import type { FindingCause, Suspense } from '../suspense/suspense.ts'
import { newSuspense } from '../suspense/suspense-store.ts'
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

/** What went back before, without what came again since. */
const standingMinor = ({ amountMinor, undoneAt, whole }: Reversal): Minor =>
  undoneAt !== undefined && whole ? less(amountMinor, whole.amountMinor) : amountMinor

/** Where a whole one is noted besides: on a settlement that is not paid out, or in the ledger. */
type NotedOn = { readonly settlementId?: SettlementId; readonly deductedAt?: Timestamp }

const reversalOf = (payment: Payment, back: MoneyBack, at: Timestamp, { settlementId }: NotedOn): Reversal => {
  const { undoneAt: _, ...before }: Partial<Reversal> = payment.reversal ?? {}
  const { transactionId, kind, amountMinor } = back
  const whole = isWhole(back, payment)
    ? { transactionId, kind, amountMinor, ...(settlementId && { settlementId }) }
    : before.whole && isBeyondWhole(payment) && { ...before.whole, beyond: true as const }
  return {
    ...before,
    kind,
    amountMinor: plus(payment.reversal ? standingMinor(payment.reversal) : ZERO, amountMinor),
    at,
    ...(whole && { whole }),
    ...(isWhole(back, payment) && { wholeAt: at }),
  }
}

/** Whether a settlement has swept where the payment stands. */
export const isSwept = (payment: Payment, { settledUntil }: Window): boolean =>
  (placeOf(payment) ?? settledUntil) < settledUntil || payment.paidAt === undefined

/** The payment's own step: the condition of all the others. */
export const notePayment = (payment: Payment, back: MoneyBack, at: Timestamp, noted: NotedOn = {}) => {
  const { deductedAt } = noted
  const reversal = { ...reversalOf(payment, back, at, noted), ...(deductedAt && { deductedAt }) }
  return noteReversal(payment, reversal, back.transactionId)
}

export const reversalFinding = (
  payment: Payment,
  back: Pick<MoneyBack, 'transactionId' | 'amountMinor'>,
  cause: FindingCause,
  now: Timestamp,
): Suspense => ({
  ...finding({ subject: back.transactionId, cause, payment, now }),
  amountMinor: back.amountMinor,
  providerPaymentId: payment.creditedProviderPaymentId,
})

/** What a client owes: of a whole payment its net, of a part what went back, and nothing beyond the whole. */
export const owedFor = (payment: Payment, back: MoneyBack, now: Timestamp): Suspense => {
  if (isBeyondWhole(payment)) return reversalFinding(payment, back, 'reversed_upstream', now)
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

/** A payment in the order of what is settled, with the next number of its client's. */
export const ledgerReversal = (
  payment: Payment,
  { reversalSeq = 0 }: Window,
  { at, place = placeOf(payment) ?? at }: { readonly at: Timestamp; readonly place?: Timestamp },
): LedgerReversal => ({
  paymentId: payment.paymentId,
  paidAt: place,
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
  const reversal = ledgerReversal(payment, window, { at })
  if (isWhole(back, payment)) {
    const noted = reversalFinding(payment, back, 'reversal_deducted', at)
    return {
      noted,
      steps: {
        payment: notePayment(payment, back, at, reversal.paidAt === payment.paidAt ? { deductedAt: at } : {}),
        ledger: takeBackCredit(payment, payment.netMinor, at),
        reversal: putReversal(clientId, reversal),
        window: countReversal(clientId, reversal.paidAt, window),
        suspense: newSuspense(noted),
      },
    }
  }
  const noted = owedFor(payment, back, at)
  const steps = { payment: notePayment(payment, back, at), suspense: newSuspense(noted) }
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
