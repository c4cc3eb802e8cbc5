import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import type { PaymentId } from '../ids.ts'
import type { PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { absent, all, any, type Condition, equals, present, unchanged } from '../table/condition.ts'
import { DUE_WORK_FIELDS, dueWork } from '../table/due-work.ts'
import { ownerOf, paymentKey } from '../table/keys.ts'
import { put, type Step, update } from '../table/step.ts'
import type { Reads } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import { isAttempt, isCreating, leaseIsOver } from './creating-store.ts'
import { type Payment, PaymentSchema, type StoredPayment, StoredPaymentSchema } from './payment.ts'

export const parseStored = (item: Item | undefined): StoredPayment | undefined =>
  item === undefined ? undefined : v.parse(StoredPaymentSchema, item)

/** The payment in whatever state, `creating` included. For the flows; clients see `findPayment`. */
export const findStoredPayment = async (
  deps: Pick<Deps, 'table'>,
  paymentId: PaymentId,
): Promise<StoredPayment | undefined> => parseStored(await deps.table.get(paymentKey(paymentId)))

/** Any number of payments by their item keys; those that are gone or not visible are left out. */
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

/** Every payment began as pending, when it was created: the row does not say it again. */
const laterTransitions = ({ transitions }: Payment) => transitions.slice(1)

/** A visible payment with its places in the indexes. What those say is stored once. */
const toPaymentItem = (payment: Payment) => ({
  ...payment,
  paymentId: undefined,
  createdAt: undefined,
  currency: undefined,
  // Nothing has moved its money yet.
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
 * `creating` -> `pending` by the attempt that got the destination. A capture remembered meanwhile, and not known to the
 * caller, refuses it: the payment must carry it on and be due at once.
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

/** `creating` -> `succeeded`: money came on an attempt whose answer never did. Not while an attempt still runs. */
export const commitSucceeded = (payment: Payment, now: Timestamp): Step =>
  put(
    paymentKey(payment.paymentId),
    toPaymentItem(payment),
    all(isCreating, isAttempt(payment.attempt), leaseIsOver(now)),
  )

/** Once our own expiry has begun, a request cancelled upstream proves no wish of the merchant any more. */
const mayBecome = (status: PaymentStatus): Condition =>
  status === 'cancelled' ? all(isPending, expiryNotStarted) : isPending

/** `pending` -> a terminal status. Whatever the status, a payment leaves `pending` once. */
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
 * Notes that the client wants it cancelled: an upstream CANCELED then means `cancelled`. The first time counts. Whatever
 * becomes of the request that asks, the payment is looked at again by `dueAt`.
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
 * Notes that we set out to end it for its age: an upstream CANCELED then means `expired`. The first time counts. Refused
 * when its merchant's cancel was noted since it was read: what became of that must be asked about before.
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
 * Takes the customer out of a terminal payment. Its status does not change again; the first erasure counts. Refused when
 * its money has moved since it was read: what announced that still carries the customer.
 */
export const eraseFromPayment = ({ paymentId, status, moneyVersion }: Payment, now: Timestamp): Step =>
  update(
    paymentKey(paymentId),
    { set: { erasedAt: now }, remove: ['customer'] },
    all(equals('status', status), absent('erasedAt'), unchanged('moneyVersion', moneyVersion)),
  )

/** Makes a payment due now: the provider has news that could not be asked for. */
export const markDueNow = (deps: Pick<Deps, 'table'>, paymentId: PaymentId, now: Timestamp) =>
  deps.table.write(update(paymentKey(paymentId), { set: dueWork('payment', paymentId, now) }, isPending))

/**
 * Claims one check by moving the due time forward; of two workers with the same due time one is applied. With
 * `beginExpiryAt` the same write notes that we set out to end it for its age (the first time counts), and is refused
 * when its merchant's cancel was noted since it was read: what became of that must be asked about before.
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

/** Sets when a pending payment is looked at next, unless it became due for another reason meanwhile. */
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

/** Takes a claimed payment whose remembered captures turned out to be nothing out of due work. */
export const endCheck = (deps: Pick<Deps, 'table'>, paymentId: PaymentId, claimedDueAt: Timestamp) =>
  deps.table.write(
    update(
      paymentKey(paymentId),
      { remove: [...DUE_WORK_FIELDS, 'rememberedProviderPaymentIds'] },
      all(isCreating, equals('dueAt', claimedDueAt)),
    ),
  )
