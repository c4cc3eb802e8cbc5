import type { StoreDeps, TableDeps } from '../deps.ts'
import { destinationKey, paymentKey, referenceKey } from '../table/keys.ts'
import {
  above,
  absent,
  all,
  any,
  atMost,
  type Condition,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  isNew,
  present,
  put,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import type { WriteOutcome } from '../table/table.ts'
import { addMs, DAY_MS, epochMs, expiresAfter, SECOND_MS, type Timestamp } from '../time.ts'
import type { CreatingPayment, Payment, ProviderAttempt } from './payment.ts'
import { NO_DETAILS, storedDetails } from './payment-details.ts'
import { endFields, ifStored, isCreating, storedOwnRow } from './payment-store.ts'

export function isAttempt(attempt: number) {
  return all(isCreating, equals('attempt', attempt))
}

/** Longer than a function lives: at its end by a right clock the attempt's process is gone. */
export const ATTEMPT_LEASE_MS = 30_000

export function leaseIsOver(now: Timestamp) {
  const isTooLong = above('leaseUntil', latestLease(now))
  return any(absent('leaseUntil'), atMost('leaseUntil', now), isTooLong)
}

/**
 * A lease that ends later was stored before the clock was set back. It counts as over: the key
 * would refuse its callers, and money would not be credited, until its end.
 */
function latestLease(now: Timestamp) {
  return addMs(now, 2 * ATTEMPT_LEASE_MS)
}

export function isUnderLease({ leaseUntil }: Pick<CreatingPayment, 'leaseUntil'>, now: Timestamp) {
  return leaseUntil !== undefined && leaseUntil > now && leaseUntil <= latestLease(now)
}

/** False for an attempt that the provider refused for good, or that never reached the provider. */
export function mayBeUpstream(attempt?: Pick<ProviderAttempt, 'outcome'>): boolean {
  return attempt?.outcome !== 'refused' && attempt?.outcome !== 'not_executed'
}

/** The table applies one claim of all callers with the same key. */
export async function claimPayment(
  deps: StoreDeps,
  creating: CreatingPayment,
): Promise<WriteOutcome> {
  // A payment that was refused long ago counts as absent before the TTL deletes it.
  const isForgotten = all(isCreating, atMost('ttl', Math.floor(epochMs(deps.now()) / SECOND_MS)))
  const step = put(paymentKey(creating.paymentId), creatingRow(creating), any(isNew, isForgotten))
  const outcome = await deps.table.write(step)
  return outcome.applied ? outcome : withOwnClaim(outcome, creating)
}

/**
 * The SDK repeats a write whose answer was lost, and the condition then refuses the repeat. The
 * attempt's token shows that the stored claim is the caller's own, so the claim was applied.
 */
function withOwnClaim({ item }: WriteOutcome, claimed: CreatingPayment) {
  const stored = item && ifStored(item)
  const token = claimTokenOf(claimed)
  const isOwn = stored?.status === 'creating' && token !== undefined
  return { applied: isOwn && claimTokenOf(stored) === token, item }
}

function claimTokenOf({ providerAttempts }: CreatingPayment) {
  return providerAttempts.at(-1)?.claimToken
}

function creatingRow(creating: CreatingPayment) {
  return { ...creating, id: creating.paymentId, ...dueFields(creating) }
}

function dueFields({ paymentId, dueAt }: Pick<Payment, 'paymentId' | 'dueAt'>) {
  return dueAt === undefined ? undefined : dueWork('payment', paymentId, dueAt)
}

/** `creating` to `pending`. Refused when a capture was remembered that the caller does not know. */
export function commitPending(payment: Payment): Step {
  return putVisiblePayment(
    payment,
    unchanged('rememberedProviderPaymentIds', payment.rememberedProviderPaymentIds),
  )
}

function putVisiblePayment(payment: Payment, condition: Condition) {
  return put(
    paymentKey(payment.paymentId),
    paymentRow(payment),
    all(isAttempt(payment.attempt), unchanged('erasedAt', payment.erasedAt), condition),
  )
}

/** Fields that the row's index attributes hold are not stored twice. */
export function paymentRow(payment: Payment) {
  const { finalFee, movements, takenBackMinor } = payment
  return {
    ...payment,
    ...NO_DETAILS,
    ...endFields(payment),
    ...storedOwnRow(payment),
    ownRow: undefined,
    finalFee: finalFee?.invoiced === true ? finalFee : undefined,
    paymentId: undefined,
    clientId: undefined,
    createdAt: undefined,
    currency: undefined,
    transitions: undefined,
    takenBackMinor: movements.length > 0 ? takenBackMinor : undefined,
    movements: movements.length > 0 ? movements : undefined,
    details: storedDetails(payment),
    owner: payment.clientId,
    entity: 'payment',
    listedAt: payment.createdAt,
    id: payment.paymentId,
    ...dueFields(payment),
  }
}

/**
 * `creating` to `succeeded`: money came for an attempt whose answer was lost. Refused while an
 * attempt runs.
 */
export function commitSucceeded(payment: Payment, now: Timestamp): Step {
  return putVisiblePayment(payment, leaseIsOver(now))
}

/**
 * One pointer is from the account number, for all clients, and one from the merchant's reference.
 */
export function putPointers(payment: Payment): readonly Step[] {
  const { paymentId, clientId, createdAt, paymentDestination, externalReference } = payment
  const row = pointerRow(payment)
  return [
    ...(payment.method === 'virtual_account'
      ? [put(destinationKey(paymentDestination, createdAt, paymentId), row)]
      : []),
    ...(externalReference
      ? [put(referenceKey(clientId, externalReference, createdAt, paymentId), row)]
      : []),
  ]
}

export function pointerRow({ paymentId }: Pick<Payment, 'paymentId'>) {
  return { paymentId }
}

/**
 * Writes the pointers before the payment is visible, so that no pointer is missing. Readers check
 * the payment.
 */
export async function writePointers(deps: TableDeps, payment: Payment): Promise<void> {
  await Promise.all(putPointers(payment).map((step) => deps.table.write(step)))
}

/**
 * Claims the next attempt. Refused when another caller was first, when the current attempt still
 * runs, or when the attempt's end was recorded after the read. Remembered captures keep their due
 * time; a new capture refuses the claim.
 */
export async function claimTakeover(
  deps: TableDeps,
  { read, next }: { readonly read: CreatingPayment; readonly next: CreatingPayment },
  now: Timestamp,
): Promise<WriteOutcome> {
  const remembers = next.rememberedProviderPaymentIds !== undefined
  const { request, erasedAt, attempt, leaseUntil, mayExistUpstream, providerAttempts } = next
  const set = {
    request,
    attempt,
    leaseUntil,
    mayExistUpstream,
    providerAttempts,
    ...(remembers ? undefined : dueFields(next)),
  }
  const isFreeAsRead = all(
    isAttempt(next.attempt - 1),
    leaseIsOver(now),
    unchanged('leaseUntil', read.leaseUntil),
    unchanged('erasedAt', read.erasedAt),
    (remembers ? present : absent)('rememberedProviderPaymentIds'),
  )
  const keptErasure = erasedAt === undefined ? (['erasedAt'] as const) : []
  const step = update(
    paymentKey(next.paymentId),
    { set, remove: ['failure', 'ttl', ...keptErasure] },
    isFreeAsRead,
  )
  const outcome = await deps.table.write(step)
  return outcome.applied ? outcome : withOwnClaim(outcome, next)
}

/** `forgettable`: no attempt left anything at the provider. */
type AttemptEnd = Pick<CreatingPayment, 'failure' | 'providerAttempts'> & {
  readonly forgettable?: boolean
}

/** The next attempt may take over; only captures keep the payment due. */
export async function releaseAttempt(
  deps: StoreDeps,
  creating: CreatingPayment,
  { forgettable = false, ...end }: AttemptEnd,
): Promise<WriteOutcome> {
  const { paymentId } = creating
  const isThisAttempt = isAttempt(creating.attempt)
  const ttl = forgettable ? expiresAfter(deps.now(), 90 * DAY_MS) : undefined
  const step = update(
    paymentKey(paymentId),
    { set: { ...end, ttl }, remove: ['leaseUntil', ...DUE_WORK_FIELDS] },
    all(isThisAttempt, absent('rememberedProviderPaymentIds')),
  )
  const outcome = await deps.table.write(step)
  if (outcome.applied || outcome.item?.['rememberedProviderPaymentIds'] === undefined)
    return outcome
  return deps.table.write(
    update(paymentKey(paymentId), { set: end, remove: ['leaseUntil'] }, isThisAttempt),
  )
}

/** Remembers a capture that came during the attempt; it is checked when the lease ends. */
export function rememberCapture(
  deps: TableDeps,
  { paymentId }: CreatingPayment,
  providerPaymentId: string,
  dueAt: Timestamp,
): Promise<WriteOutcome> {
  const add = { rememberedProviderPaymentIds: new Set([providerPaymentId]) }
  const set = { id: paymentId, ...dueWork('payment', paymentId, dueAt) }
  return deps.table.write(update(paymentKey(paymentId), { add, set, remove: ['ttl'] }, isCreating))
}
