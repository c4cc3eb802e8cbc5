import type { StoreDeps } from '../../deps.ts'
import { correctCredit } from '../../ledger/ledger-store.ts'
import { less, type Minor } from '../../money.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import { ensureSuspense } from '../../suspense/suspense-store.ts'
import { all, equals } from '../../table/condition.ts'
import { paymentKey } from '../../table/keys.ts'
import { type Step, update } from '../../table/step.ts'
import type { Timestamp } from '../../time.ts'
import { netOf } from '../channel/pricing.ts'
import type { FinalFee, Payment } from '../payment.ts'

const isSucceeded = equals('status', 'succeeded')

export type FeeDecision = {
  readonly status: FinalFee['status']
  readonly feeMinor: Minor
  readonly invoiced?: true | undefined
  /** When the provider's money for the payment reached us, where the same news says so; the first time counts. */
  readonly settledAt?: Timestamp | undefined
  /** The finding about it: in the same transaction, so that no crash separates them. */
  readonly noted?: Suspense
}

export type FeeMadeFinal = { readonly payment: Payment; readonly differenceMinor: Minor; readonly step: Step }

/** The payment with its final fee, and the step that makes it so once. */
export const feeMadeFinal = (
  payment: Payment,
  { status, feeMinor, invoiced, settledAt }: FeeDecision,
  at: Timestamp,
): FeeMadeFinal => {
  const netMinor = netOf(payment.notionalMinor, feeMinor, payment.markupMinor)
  const finalFee = { status, feeMinor, at, ...(invoiced && { invoiced }) }
  const final = { providerFeeMinor: feeMinor, netMinor, feeStatus: status, finalFee }
  return {
    payment: { ...payment, ...final, providerSettledAt: payment.providerSettledAt ?? settledAt },
    differenceMinor: less(netMinor, payment.netMinor),
    step: update(
      paymentKey(payment.paymentId),
      { set: final, setIfAbsent: { providerSettledAt: settledAt } },
      all(isSucceeded, equals('feeStatus', 'estimated')),
    ),
  }
}

/**
 * Makes a payment's fee final, once: `estimated` -> `actual` or `assumed`, and the difference to the ledger, in one
 * transaction (design section 4, "Fee"); without a difference it is one plain write. Refused (undefined) when it is final
 * already: read the payment again.
 */
export const makeFeeFinal = async (
  deps: StoreDeps,
  payment: Payment,
  decision: FeeDecision,
): Promise<Payment | undefined> => {
  const at = deps.now()
  const { payment: final, differenceMinor, step } = feeMadeFinal(payment, decision, at)
  const { noted } = decision
  const { applied } =
    differenceMinor === 0 && noted === undefined
      ? await deps.table.write(step)
      : await deps.table.transact({
          payment: step,
          ledger: differenceMinor === 0 ? undefined : correctCredit(payment, differenceMinor, at),
          suspense: noted && ensureSuspense(noted),
        })
  return applied ? final : undefined
}

/** Notes when the provider's money for a payment reached us; the first time counts. */
export const noteProviderSettled = (deps: StoreDeps, payment: Payment, at: Timestamp) =>
  deps.table.write(update(paymentKey(payment.paymentId), { setIfAbsent: { providerSettledAt: at } }, isSucceeded))
