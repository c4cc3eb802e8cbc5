import type { TableDeps } from '../deps.ts'
import type { PaymentId } from '../ids.ts'
import { paymentKey } from '../table/keys.ts'
import { absent, all, any, DUE_WORK_FIELDS, dueWork, equals, present, unchanged, update } from '../table/step.ts'
import type { Timestamp } from '../time.ts'
import { isCreating } from './creating-store.ts'
import type { Payment } from './payment.ts'
import { expiryNotStarted, isPending } from './payment-store.ts'

/**
 * Notes that the client wants it cancelled: CANCELED at the provider then means `cancelled`. The first time counts.
 * Whatever happens to this request, the payment is checked again by `dueAt`.
 */
export const noteCancelRequested = (deps: TableDeps, paymentId: PaymentId, now: Timestamp, dueAt: Timestamp) =>
  deps.table.write(
    update(
      paymentKey(paymentId),
      { setIfAbsent: { cancelRequestedAt: now }, set: dueWork('payment', paymentId, dueAt) },
      all(isPending, expiryNotStarted),
    ),
  )

/**
 * Notes that our expiry has begun: CANCELED at the provider then means `expired`. The first time counts. Refused when
 * the merchant's cancel was noted since it was read, because its outcome must be asked about first.
 */
export const noteExpiryStarted = (
  deps: TableDeps,
  { paymentId, cancelRequestedAt }: Pick<Payment, 'paymentId' | 'cancelRequestedAt'>,
  now: Timestamp,
) =>
  deps.table.write(
    update(
      paymentKey(paymentId),
      { setIfAbsent: { expiryStartedAt: now } },
      all(isPending, any(present('expiryStartedAt'), unchanged('cancelRequestedAt', cancelRequestedAt))),
    ),
  )

/** Makes a payment due now, because the provider has news that could not be asked for. */
export const markDueNow = (deps: TableDeps, paymentId: PaymentId, now: Timestamp) =>
  deps.table.write(update(paymentKey(paymentId), { set: dueWork('payment', paymentId, now) }, isPending))

/**
 * Claims one check by moving the due time forward; of two workers with the same due time, one is applied. With
 * `beginExpiryAt` the same write notes that our expiry has begun (the first time counts). It is then refused when the
 * merchant's cancel was noted since it was read, because its outcome must be asked about first.
 */
export const claimCheck = (
  deps: TableDeps,
  { paymentId, dueAt }: { readonly paymentId: PaymentId; readonly dueAt: Timestamp },
  claim: { readonly nextDueAt: Timestamp; readonly beginExpiryAt?: Timestamp | undefined },
) => {
  const isDue = all(present('work'), equals('dueAt', dueAt))
  const { nextDueAt, beginExpiryAt } = claim
  return deps.table.write(
    beginExpiryAt === undefined
      ? update(paymentKey(paymentId), { set: { dueAt: nextDueAt } }, isDue)
      : update(
          paymentKey(paymentId),
          { set: { dueAt: nextDueAt }, setIfAbsent: { expiryStartedAt: beginExpiryAt } },
          all(isDue, isPending, any(present('expiryStartedAt'), absent('cancelRequestedAt'))),
        ),
  )
}

/** Sets when a pending payment is checked next. Refused when it became due for another reason meanwhile. */
export const scheduleCheck = (deps: TableDeps, paymentId: PaymentId, claimedDueAt: Timestamp, nextDueAt: Timestamp) =>
  deps.table.write(
    update(
      paymentKey(paymentId),
      { set: { dueAt: nextDueAt }, remove: ['rememberedProviderPaymentIds'] },
      all(isPending, equals('dueAt', claimedDueAt)),
    ),
  )

/** Removes a claimed payment from due work after its remembered captures came to nothing. */
export const endCheck = (deps: TableDeps, paymentId: PaymentId, claimedDueAt: Timestamp) =>
  deps.table.write(
    update(
      paymentKey(paymentId),
      { remove: [...DUE_WORK_FIELDS, 'rememberedProviderPaymentIds'] },
      all(isCreating, equals('dueAt', claimedDueAt)),
    ),
  )
