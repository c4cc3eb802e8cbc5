import type { Deps } from '../deps.ts'
import { takeBackCredit } from '../ledger/ledger-store.ts'
import { countReversal, putReversal } from '../ledger/reversal-store.ts'
import { type Minor, plus, ZERO } from '../money.ts'
import type { Payment, Reversal } from '../payment/payment.ts'
import { findStoredPayment, noteReversal } from '../payment/payment-store.ts'
import { readWindow } from '../settlement/window-store.ts'
import { finding, logSuspense, publishSuspenseAlert } from '../suspense/record-suspense.ts'
import type { FindingCause, Suspense } from '../suspense/suspense.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'

type ReverseDeps = Pick<Deps, 'table' | 'now' | 'log' | 'alerts'>

/** Money of a credited payment that the provider has taken back, by one of its transactions. */
export type MoneyBack = {
  readonly transactionId: string
  readonly kind: Reversal['kind']
  readonly amountMinor: Minor
}

/** Of a settlement and of other reversals of the client at the same moment, each is met once or twice. */
const MAX_TRIES = 8

/** A void and a reversal take all of it, whatever their row says; else it takes one transaction of the whole amount. */
const isWhole = ({ kind, amountMinor }: MoneyBack, { notionalMinor }: Payment): boolean =>
  kind === 'voided' || kind === 'reversed' || amountMinor >= notionalMinor

const reversalOf = (payment: Payment, { kind, amountMinor }: MoneyBack, at: Reversal['at']): Reversal => ({
  ...payment.reversal,
  kind,
  amountMinor: plus(payment.reversal?.amountMinor ?? ZERO, amountMinor),
  at,
})

const findingOf = (payment: Payment, back: MoneyBack, cause: FindingCause, now: Reversal['at']): Suspense => ({
  ...finding({ subject: back.transactionId, cause, payment, now }),
  amountMinor: back.amountMinor,
  providerPaymentId: payment.creditedProviderPaymentId,
})

type Tried = { readonly applied: boolean; readonly noted: Suspense }

/** Payment, shard, reversal, window and finding: all or none. Refused when any of what was read has changed. */
const deduct = async (deps: ReverseDeps, payment: Payment, back: MoneyBack): Promise<Tried | undefined> => {
  const { clientId, paymentId, paidAt } = payment
  const window = await readWindow(deps, clientId)
  if (paidAt === undefined || paidAt < window.settledUntil) return undefined
  const at = deps.now()
  const { notionalMinor, providerFeeMinor, markupMinor, netMinor } = payment
  const noted = findingOf(payment, back, 'reversal_deducted', at)
  const { applied } = await deps.table.transact({
    payment: noteReversal(payment, { ...reversalOf(payment, back, at), deductedAt: at }, back.transactionId),
    ledger: takeBackCredit(payment, netMinor, at),
    reversal: putReversal(clientId, {
      paymentId,
      paidAt,
      notionalMinor,
      providerFeeMinor,
      markupMinor,
      netMinor,
      seq: (window.reversalSeq ?? 0) + 1,
      at,
    }),
    window: countReversal(clientId, paidAt, window),
    suspense: ensureSuspense(noted),
  })
  return { applied, noted }
}

/** Where nothing is left to be deducted, or only a part went back: the payment shows it, and a person must look. */
const noteOnly = async (deps: ReverseDeps, payment: Payment, back: MoneyBack): Promise<Tried> => {
  const at = deps.now()
  const noted = findingOf(payment, back, 'reversed_upstream', at)
  const { applied } = await deps.table.transact({
    payment: noteReversal(payment, reversalOf(payment, back, at), back.transactionId),
    suspense: ensureSuspense(noted),
  })
  return { applied, noted }
}

/**
 * The books follow money that goes back (design section 10). Whole, before a settlement has swept it: its net leaves the
 * ledger, and the next settlement leaves it out; an estimated fee becomes `assumed`, so that it holds up nobody. Otherwise
 * the payment shows it and a finding says so. Each of the provider's transactions counts once, and is alerted once. The
 * payment stays succeeded. Throws when the payment kept changing.
 */
export const reversePayment = async (deps: ReverseDeps, credited: Payment, back: MoneyBack): Promise<void> => {
  let payment = credited
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    if (payment.reversalIds?.has(back.transactionId)) return
    const mayDeduct = isWhole(back, payment) && payment.reversal?.deductedAt === undefined
    const outcome = (mayDeduct ? await deduct(deps, payment, back) : undefined) ?? (await noteOnly(deps, payment, back))
    if (outcome.applied) {
      logSuspense(deps, outcome.noted)
      await publishSuspenseAlert(deps, outcome.noted)
      return
    }
    const stored = await findStoredPayment(deps, payment.paymentId)
    if (stored?.status !== 'succeeded') break
    payment = stored
  }
  throw new Error('a payment kept changing while it was reversed')
}
