import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { notFound } from '../errors.ts'
import { parseId, requireRow } from '../field-errors.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, paymentIdFor } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { MinorSchema } from '../money.ts'
import type { PaymentStatus } from '../payment-status.ts'
import type { Item } from '../table/attributes.ts'
import { idOf, paymentKey } from '../table/keys.ts'
import {
  absent,
  all,
  any,
  DUE_WORK_FIELDS,
  dueWork,
  equals,
  present,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import type { Reads } from '../table/table.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import {
  CreatingPaymentSchema,
  type NewsSource,
  type Payment,
  PaymentFields,
  type StoredPayment,
  type Transition,
} from './payment.ts'
import { readDetails } from './payment-details.ts'

const KeyedRow = v.looseObject({ pk: v.string() })

const Row = v.looseObject({
  ...KeyedRow.entries,
  listedAt: TimestampSchema,
  owner: v.unknown(),
  status: v.string(),
  ...v.entriesFromList(
    ['paidAt', 'endedAt', 'endedBy', 'postedAt', 'feeStatus'],
    v.optional(v.unknown()),
  ),
  details: v.unknown(),
  notionalMinor: MinorSchema,
  providerFeeMinor: MinorSchema,
  transactionId: v.optional(v.string()),
  transactionMinor: v.optional(MinorSchema),
  transactionContradicts: v.optional(v.literal(true)),
})

export function storedOwnRow(payment: Payment) {
  return {
    transactionId: payment.ownRow?.transactionId,
    transactionMinor:
      payment.ownRow?.providerMinor === usualMinor(payment)
        ? undefined
        : payment.ownRow?.providerMinor,
    transactionContradicts: payment.ownRow?.contradicts,
  }
}

/** What the own row shows unless the payment's row stores another amount. */
function usualMinor(payment: Pick<Payment, 'notionalMinor' | 'providerFeeMinor'>) {
  return payment.notionalMinor - payment.providerFeeMinor
}

export const StoredPaymentSchema = v.pipe(
  v.unknown(),
  v.transform(withDerivedFields),
  v.variant('status', [CreatingPaymentSchema, PaymentFields]),
)

export function ifStored(item: Item): StoredPayment | undefined {
  return ifValid(StoredPaymentSchema, item)
}

/** The id is that of the row's key: a changed attribute may name another payment. */
function withDerivedFields(row: unknown) {
  const keyedRow = ifValid(KeyedRow, row)
  if (keyedRow === undefined) return row
  const paymentId = idOf(keyedRow.pk)
  const fields = ifValid(Row, row)
  if (fields === undefined) return { ...keyedRow, paymentId }
  const {
    listedAt: createdAt,
    owner: clientId,
    endedBy: source,
    endedAt = fields.paidAt,
    transactionId,
    transactionMinor,
    transactionContradicts: contradicts,
  } = fields
  const firstTransition: Transition = { status: 'pending', at: createdAt, source: 'create' }
  const end = { status: fields.status, at: endedAt, source }
  const { postedAt: at, feeStatus: status, providerFeeMinor: feeMinor } = fields
  const finalFee = at === undefined ? {} : { finalFee: { status, feeMinor, at } }
  const providerMinor = transactionMinor ?? usualMinor(fields)
  const ownRow = { transactionId, providerMinor, ...(contradicts && { contradicts }) }
  const derived = {
    paymentId,
    clientId,
    createdAt,
    currency: 'IDR',
    transitions: source === undefined ? [firstTransition] : [firstTransition, end],
  }
  const details = readDetails(fields.details)
  return {
    ...finalFee,
    ...fields,
    ...details,
    ...(transactionId !== undefined && { ownRow }),
    ...derived,
  }
}

export function parseStored(item: Item | undefined): StoredPayment | undefined {
  return item === undefined ? undefined : v.parse(StoredPaymentSchema, item)
}

/** A payment in any state. Requests of clients use `findPayment`. */
export async function findStoredPayment(
  deps: TableDeps,
  paymentId: PaymentId,
): Promise<StoredPayment | undefined> {
  return parseStored(await deps.table.get(paymentKey(paymentId)))
}

export const PaymentSchema = v.pipe(v.unknown(), v.transform(withDerivedFields), PaymentFields)

/** Absent and invisible payments are left out. */
export async function findPaymentsByKey(
  deps: TableDeps,
  paymentIds: readonly PaymentId[],
  reads?: Reads,
): Promise<readonly Payment[]> {
  const items = await deps.table.getMany(paymentIds.map(paymentKey), reads)
  return items.flatMap((item) => ifValid(PaymentSchema, item) ?? [])
}

export function withTransition(
  payment: Payment,
  status: PaymentStatus,
  at: Timestamp,
  source: NewsSource,
): Payment {
  return { ...payment, status, transitions: [...payment.transitions, { status, at, source }] }
}

/** `held`: what the payment shows from now on of money that it failed with. */
export function leavePending(payment: Payment, held?: Payment['held']): Step {
  const { paymentId, status, failureReason, paidAt, openAt, feeStatus, finalFee } = payment
  const creditFields = { paidAt, openAt, feeStatus, finalFee, capture: payment.capture }
  const set = { status, failureReason, held, ...creditFields, ...endFields(payment) }
  const isAsShown = held ? [unchanged('held', payment.held)] : []
  const condition = all(mayBecome(status), ...isAsShown)
  return update(paymentKey(paymentId), { set, remove: DUE_WORK_FIELDS }, condition)
}

/**
 * The end's status is the payment's; its time is `paidAt` if the row has no other. The first
 * transition, to pending, is not stored.
 */
export function endFields({ transitions, paidAt }: Payment) {
  const end = transitions[1]
  return { endedBy: end?.source, endedAt: end?.at === paidAt ? undefined : end?.at }
}

const isPending = equals('status', 'pending')

/** After our expiry has begun, a cancel at the provider may be ours. */
function mayBecome(status: PaymentStatus) {
  return status === 'cancelled' ? all(isPending, absent('expiryStartedAt')) : isPending
}

/** Throws the same 404 for an absent, malformed, invisible or other client's payment (spec 4.3). */
export async function findPayment(
  deps: TableDeps,
  clientId: ClientId,
  id: string,
): Promise<Payment> {
  const stored = await findAnyPayment(deps, id, clientId)
  if (stored.status === 'creating' || isForeign(stored)) throw notFound('payment')
  return stored
}

/**
 * The payment's id does not belong to the client that the row names, so the row was changed. Such a
 * payment is not credited, moved, posted or paid out.
 */
export function isForeign({
  paymentId,
  clientId,
  keyDigest,
}: Pick<StoredPayment, 'paymentId' | 'clientId' | 'keyDigest'>): boolean {
  return paymentIdFor(clientId, keyDigest) !== paymentId
}

/**
 * A payment, also in creation. Without a client, for an operator, an unreadable row is 409. Throws
 * 404.
 */
export async function findAnyPayment(
  deps: TableDeps,
  id: string,
  clientId?: ClientId,
): Promise<StoredPayment> {
  const item = await deps.table.get(paymentKey(parseId(PaymentIdSchema, id, 'payment')))
  // A row that cannot be read must not show that it exists.
  const owner = item?.['owner'] ?? item?.['clientId']
  if (clientId === undefined) return requireRow(StoredPaymentSchema, item, 'payment', id, owner)
  if (owner !== clientId) throw notFound('payment')
  return v.parse(StoredPaymentSchema, item)
}

/** Records the client's cancel, once. CANCELED at the provider then means `cancelled`. */
export function recordCancelRequest(
  deps: TableDeps,
  paymentId: PaymentId,
  now: Timestamp,
  dueAt: Timestamp,
) {
  const set = dueWork('payment', paymentId, dueAt)
  const changes = { setIfAbsent: { cancelRequestedAt: now }, set }
  return deps.table.write(update(paymentKey(paymentId), changes, mayBecome('cancelled')))
}

/** Refused if a cancel was recorded after the read: the provider is first asked about it. */
export function recordExpiryStart(
  deps: TableDeps,
  { paymentId, cancelRequestedAt }: Pick<Payment, 'paymentId' | 'cancelRequestedAt'>,
  now: Timestamp,
) {
  const mayBegin = any(
    present('expiryStartedAt'),
    unchanged('cancelRequestedAt', cancelRequestedAt),
  )
  const changes = { setIfAbsent: { expiryStartedAt: now } }
  return deps.table.write(update(paymentKey(paymentId), changes, all(isPending, mayBegin)))
}

/** The provider announced news and could not be asked. */
export function markDueNow(deps: TableDeps, paymentId: PaymentId, now: Timestamp) {
  const changes = { set: dueWork('payment', paymentId, now) }
  return deps.table.write(update(paymentKey(paymentId), changes, isPending))
}

/**
 * Claims one check: of two workers one wins. It moves the due time forward, or `beginExpiryAt`
 * begins our expiry, with the refusal of `recordExpiryStart`, unless another caller has begun it.
 */
export function claimCheck(
  deps: TableDeps,
  due: Pick<Payment, 'paymentId' | 'cancelRequestedAt'> & { readonly dueAt: Timestamp },
  {
    nextDueAt,
    beginExpiryAt,
  }: { readonly nextDueAt: Timestamp; readonly beginExpiryAt?: Timestamp },
) {
  const changes = { set: { dueAt: nextDueAt, expiryStartedAt: beginExpiryAt } }
  const isAsRead = all(
    equals('dueAt', due.dueAt),
    unchanged('cancelRequestedAt', due.cancelRequestedAt),
    ...(beginExpiryAt === undefined ? [] : [absent('expiryStartedAt')]),
  )
  return deps.table.write(update(paymentKey(due.paymentId), changes, isAsRead))
}

export const isCreating = equals('status', 'creating')

/**
 * Ends a check whose captures led to no credit. Without `nextDueAt` no check follows. Refused when
 * the payment changed its status, or became due for another reason, meanwhile.
 */
export function endCheck(
  deps: TableDeps,
  { paymentId, status }: Pick<StoredPayment, 'paymentId' | 'status'>,
  claimedDueAt: Timestamp,
  nextDueAt?: Timestamp,
) {
  const ended = nextDueAt === undefined ? DUE_WORK_FIELDS : []
  const step = update(
    paymentKey(paymentId),
    { set: { dueAt: nextDueAt }, remove: [...ended, 'rememberedProviderPaymentIds'] },
    all(equals('status', status), equals('dueAt', claimedDueAt)),
  )
  return deps.table.write(step)
}
