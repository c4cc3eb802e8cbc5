import type { Deps } from '../../deps.ts'
import { correctCredit } from '../../ledger/ledger-store.ts'
import { less, type Minor } from '../../money.ts'
import type { Suspense } from '../../suspense/suspense.ts'
import { ensureSuspense } from '../../suspense/suspense-store.ts'
import { all, equals } from '../../table/condition.ts'
import { paymentKey } from '../../table/keys.ts'
import { update } from '../../table/step.ts'
import type { Timestamp } from '../../time.ts'
import { netOf } from '../channel/pricing.ts'
import type { FinalFee, Payment } from '../payment.ts'

type FeeDeps = Pick<Deps, 'table' | 'now'>

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

/**
 * Makes a payment's fee final, once: `estimated` -> `actual` or `assumed`, and the difference to the ledger, in one
 * transaction (design section 4, "Fee"). Refused (undefined) when it is final already: read the payment again.
 */
export const makeFeeFinal = async (
  deps: FeeDeps,
  payment: Payment,
  { status, feeMinor, invoiced, settledAt, noted }: FeeDecision,
): Promise<Payment | undefined> => {
  const at = deps.now()
  const netMinor = netOf(payment.notionalMinor, feeMinor, payment.markupMinor)
  const difference = less(netMinor, payment.netMinor)
  const finalFee = { status, feeMinor, at, ...(invoiced && { invoiced }) }
  const final = { providerFeeMinor: feeMinor, netMinor, feeStatus: status, finalFee }
  const { applied } = await deps.table.transact({
    payment: update(
      paymentKey(payment.paymentId),
      { set: final, setIfAbsent: { providerSettledAt: settledAt } },
      all(isSucceeded, equals('feeStatus', 'estimated')),
    ),
    ledger: difference === 0 ? undefined : correctCredit(payment, difference, at),
    suspense: noted && ensureSuspense(noted),
  })
  if (!applied) return undefined
  return { ...payment, ...final, providerSettledAt: payment.providerSettledAt ?? settledAt }
}

/** Notes when the provider's money for a payment reached us; the first time counts. */
export const noteProviderSettled = (deps: FeeDeps, payment: Payment, at: Timestamp) =>
  deps.table.write(update(paymentKey(payment.paymentId), { setIfAbsent: { providerSettledAt: at } }, isSucceeded))
