import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { PaymentId } from '../ids.ts'
import type { PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { ownerOf, paymentKey } from '../table/keys.ts'
import {
  absent,
  all,
  any,
  type Condition,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  present,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import type { Reads } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import { isAttempt, isCreating, leaseIsOver } from './creating-store.ts'
import { type Payment, PaymentSchema, type StoredPayment, StoredPaymentSchema } from './payment.ts'

export const parseStored = (item: Item | undefined): StoredPayment | undefined =>
  item === undefined ? undefined : v.parse(StoredPaymentSchema, item)

/** The payment in any state, `creating` included. For flows; clients use `findPayment`. */
export const findStoredPayment = async (
  deps: Pick<Deps, 'table'>,
  paymentId: PaymentId,
): Promise<StoredPayment | undefined> => parseStored(await deps.table.get(paymentKey(paymentId)))

/** Payments by their item keys. Absent and invisible ones are left out. */
export const findPaymentsByKey = async (
  deps: Pick<Deps, 'table'>,
  paymentIds: readonly PaymentId[],
  reads?: Reads,
): Promise<readonly Payment[]> => {
  const items = await deps.table.getMany(paymentIds.map(paymentKey), reads)
  return items.flatMap((item) => {
    const parsed = v.safeParse(PaymentSchema, item)
    return parsed.success ? [parsed.output] : []
  })
}

const isPending: Condition = equals('status', 'pending')
const expiryNotStarted: Condition = absent('expiryStartedAt')

/** The first transition, to pending at creation, is not stored. */
const laterTransitions = ({ transitions }: Payment) => transitions.slice(1)

/** A visible payment with its index attributes. What those say is stored once. */
const toPaymentItem = (payment: Payment) => ({
  ...payment,
  paymentId: undefined,
  createdAt: undefined,
  currency: undefined,
  // Its money has not moved yet.
  takenBackMinor: undefined,
  movements: undefined,
  transitions: laterTransitions(payment),
  providerAttempts: payment.providerAttempts.map((attempt) =>
    attempt.outcome === 'created' ? { ...attempt, outcome: undefined } : attempt,
  ),
  owner: ownerOf(payment.clientId, payment.part),
  entity: 'payment',
  listedAt: payment.createdAt,
  id: payment.paymentId,
  ...(payment.dueAt !== undefined && dueWork('payment', payment.paymentId, payment.dueAt)),
})

/**
 * `creating` to `pending`, by the attempt that got the destination. Refused when a capture was remembered that the
 * caller does not know: the payment must keep it and be due at once.
 */
export const commitPending = (payment: Payment): Step =>
  put(
    paymentKey(payment.paymentId),
    toPaymentItem(payment),
    all(
      isCreating,
      isAttempt(payment.attempt),
      unchanged('rememberedProviderPaymentIds', payment.rememberedProviderPaymentIds),
    ),
  )

/** `creating` to `succeeded`: money came for an attempt whose answer was lost. Refused while an attempt runs. */
export const commitSucceeded = (payment: Payment, now: Timestamp): Step =>
  put(
    paymentKey(payment.paymentId),
    toPaymentItem(payment),
    all(isCreating, isAttempt(payment.attempt), leaseIsOver(now)),
  )

/** After our expiry has begun, a request cancelled at the provider no longer proves the merchant's wish. */
const mayBecome = (status: PaymentStatus): Condition =>
  status === 'cancelled' ? all(isPending, expiryNotStarted) : isPending

/** `pending` to a terminal status. A payment leaves `pending` once. */
export const leavePending = (payment: Payment): Step =>
  update(
    paymentKey(payment.paymentId),
    {
      set: {
        status: payment.status,
        failureReason: payment.failureReason,
        paidAt: payment.paidAt,
        openAt: payment.openAt,
        providerFeeMinor: payment.providerFeeMinor,
        netMinor: payment.netMinor,
        feeStatus: payment.feeStatus,
        finalFee: payment.finalFee,
        creditedProviderPaymentId: payment.creditedProviderPaymentId,
        transitions: laterTransitions(payment),
      },
      remove: DUE_WORK_FIELDS,
    },
    mayBecome(payment.status),
  )

/**
 * Notes that the client wants it cancelled: CANCELED at the provider then means `cancelled`. The first time counts.
 * Whatever happens to this request, the payment is checked again by `dueAt`.
 */
export const noteCancelRequested = (
  deps: Pick<Deps, 'table'>,
  paymentId: PaymentId,
  now: Timestamp,
  dueAt: Timestamp,
) =>
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
  deps: Pick<Deps, 'table'>,
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

/**
 * Removes the customer from a terminal payment. The first erasure counts. Refused when its money has moved since it was
 * read, because that event still carries the customer.
 */
export const eraseFromPayment = ({ paymentId, status, moneyVersion }: Payment, now: Timestamp): Step =>
  update(
    paymentKey(paymentId),
    { set: { erasedAt: now }, remove: ['customer'] },
    all(equals('status', status), absent('erasedAt'), unchanged('moneyVersion', moneyVersion)),
  )

/** Makes a payment due now, because the provider has news that could not be asked for. */
export const markDueNow = (deps: Pick<Deps, 'table'>, paymentId: PaymentId, now: Timestamp) =>
  deps.table.write(update(paymentKey(paymentId), { set: dueWork('payment', paymentId, now) }, isPending))

/**
 * Claims one check by moving the due time forward; of two workers with the same due time, one is applied. With
 * `beginExpiryAt` the same write notes that our expiry has begun (the first time counts). It is then refused when the
 * merchant's cancel was noted since it was read, because its outcome must be asked about first.
 */
export const claimCheck = (
  deps: Pick<Deps, 'table'>,
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
export const scheduleCheck = (
  deps: Pick<Deps, 'table'>,
  paymentId: PaymentId,
  claimedDueAt: Timestamp,
  nextDueAt: Timestamp,
) =>
  deps.table.write(
    update(
      paymentKey(paymentId),
      { set: { dueAt: nextDueAt }, remove: ['rememberedProviderPaymentIds'] },
      all(isPending, equals('dueAt', claimedDueAt)),
    ),
  )

/** Removes a claimed payment from due work after its remembered captures came to nothing. */
export const endCheck = (deps: Pick<Deps, 'table'>, paymentId: PaymentId, claimedDueAt: Timestamp) =>
  deps.table.write(
    update(
      paymentKey(paymentId),
      { remove: [...DUE_WORK_FIELDS, 'rememberedProviderPaymentIds'] },
      all(isCreating, equals('dueAt', claimedDueAt)),
    ),
  )
