import type { Deps } from '../deps.ts'
import { correctCredit } from '../ledger/ledger-store.ts'
import { less, type Minor } from '../money.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { ensureSuspense } from '../suspense/suspense-store.ts'
import { all, equals } from '../table/condition.ts'
import { paymentKey } from '../table/keys.ts'
import { update } from '../table/step.ts'
import { conditionalWrite, transact } from '../table/write.ts'
import type { Timestamp } from '../time.ts'
import type { Payment } from './payment.ts'
import { netOf } from './tariff.ts'

type FeeDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'now'>

const isSucceeded = equals('status', 'succeeded')

/**
 * Makes a payment's fee final, once: `estimated` -> `actual` or `assumed`, and the difference to the ledger, in one
 * transaction (design section 4, "Fee"); with `noted`, the finding about it too, so that no crash separates them.
 * Refused (undefined) when it is final already: read the payment again.
 */
export const makeFeeFinal = async (
  deps: FeeDeps,
  payment: Payment,
  feeMinor: Minor,
  feeStatus: 'actual' | 'assumed',
  noted?: Suspense,
): Promise<Payment | undefined> => {
  const netMinor = netOf(payment.notionalMinor, feeMinor, payment.markupMinor)
  const difference = less(netMinor, payment.netMinor)
  const { applied } = await transact(deps, {
    payment: update(
      paymentKey(payment.paymentId),
      { set: { providerFeeMinor: feeMinor, netMinor, feeStatus } },
      all(isSucceeded, equals('feeStatus', 'estimated')),
    ),
    ledger: difference === 0 ? undefined : correctCredit(payment, difference, deps.now()),
    suspense: noted && ensureSuspense(noted),
  })
  return applied ? { ...payment, providerFeeMinor: feeMinor, netMinor, feeStatus } : undefined
}

/** Notes when the provider's money for a payment reached us; the first time counts. */
export const noteProviderSettled = (deps: FeeDeps, payment: Payment, at: Timestamp) =>
  conditionalWrite(deps, update(paymentKey(payment.paymentId), { setIfAbsent: { providerSettledAt: at } }, isSucceeded))
