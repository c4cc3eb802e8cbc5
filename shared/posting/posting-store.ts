import { putEntry } from '../journal/entry-store.ts'
import type { Payment } from '../payment/payment.ts'
import { storedOwnRow } from '../payment/payment-store.ts'
import { paymentKey } from '../table/keys.ts'
import { absent, all, equals, guard, present, type Step, unchanged, update } from '../table/step.ts'
import type { Steps } from '../table/table.ts'
import { addedEntries } from './payment-entries.ts'

/** Writes the added entries too. Refused when the money moved after the read. */
export function changeMoney(before: Payment, after: Payment): Steps<string> {
  const { paymentId, openAt, moneyVersion } = before
  const set = {
    moneyVersion: (moneyVersion ?? 0) + 1,
    providerFeeMinor: after.providerFeeMinor,
    netMinor: after.netMinor,
    feeStatus: after.feeStatus,
    ...(after.finalFee?.invoiced === true && { finalFee: after.finalFee }),
    providerSettledAt: after.providerSettledAt,
    postedAt: after.postedAt,
    lateRowAt: after.lateRowAt,
    ...storedOwnRow(after),
    reversal: after.reversal,
    isVoid: after.isVoid,
    voidedOpen: after.voidedOpen,
    ...(after.movements.length > 0 && {
      takenBackMinor: after.takenBackMinor,
      movements: after.movements,
    }),
  }
  const payment: Step = update(
    paymentKey(paymentId),
    { set, remove: after.openAt === undefined ? (['openAt'] as const) : [] },
    all(
      equals('status', 'succeeded'),
      unchanged('moneyVersion', moneyVersion),
      // The event of the movement must not bring back an erased customer.
      unchanged('erasedAt', before.erasedAt),
      openAt === undefined ? absent('openAt') : present('openAt'),
    ),
  )
  const entries = addedEntries(before, after).map(
    (entry) => [entry.entryId, putEntry(before.clientId, entry)] as const,
  )
  return { [paymentId]: payment, ...Object.fromEntries(entries) }
}

export function requireSameMoney({ paymentId, status, moneyVersion, erasedAt }: Payment): Step {
  return guard(
    paymentKey(paymentId),
    all(
      equals('status', status),
      unchanged('moneyVersion', moneyVersion),
      unchanged('erasedAt', erasedAt),
    ),
  )
}
