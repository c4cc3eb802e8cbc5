import type { StoreDeps, TableDeps } from '../deps.ts'
import { paymentKey } from '../table/keys.ts'
import { absent, all, DUE_WORK_FIELDS, dueWork, present, unchanged, update } from '../table/step.ts'
import type { WriteOutcome } from '../table/table.ts'
import { DAY_MS, SECOND_MS, type Timestamp } from '../time.ts'
import { dueFields, isAttempt, isCreating, leaseIsOver, ttlSeconds } from './creating-store.ts'
import type { CreatingPayment, ProviderAttempt } from './payment.ts'

/**
 * How long a create is kept after the provider has refused every attempt for good. Nothing of it exists at the
 * provider.
 */
const REFUSED_RETENTION_MS = 90 * DAY_MS

/**
 * Claims the next attempt. Refused when another caller was first, when the current attempt still runs, or when the
 * attempt's end was recorded since it was read. Remembered captures keep their due time; a new one refuses the claim.
 */
export const claimTakeover = (
  deps: TableDeps,
  { read, taken }: { readonly read: CreatingPayment; readonly taken: CreatingPayment },
  now: Timestamp,
): Promise<WriteOutcome> => {
  const remembers = taken.rememberedProviderPaymentIds !== undefined
  const { request, attempt, leaseUntil, mayExistUpstream, providerAttempts } = taken
  return deps.table.write(
    update(
      paymentKey(taken.paymentId),
      {
        set: { request, attempt, leaseUntil, mayExistUpstream, providerAttempts, ...(!remembers && dueFields(taken)) },
        remove: ['failure', 'ttl'],
      },
      all(
        isCreating,
        isAttempt(taken.attempt - 1),
        leaseIsOver(now),
        unchanged('leaseUntil', read.leaseUntil),
        (remembers ? present : absent)('rememberedProviderPaymentIds'),
      ),
    ),
  )
}

/** How an attempt ended. `forgettable`: neither it nor an earlier one left anything at the provider. */
type AttemptEnd = {
  readonly failure: string
  readonly providerAttempts: readonly ProviderAttempt[]
  readonly forgettable?: boolean
}

/**
 * Records that an attempt ended without a destination, and lets the next request take over at once. The payment is no
 * longer due, unless it remembers captures.
 */
export const releaseAttempt = async (
  deps: StoreDeps,
  creating: CreatingPayment,
  { failure, providerAttempts, forgettable = false }: AttemptEnd,
): Promise<WriteOutcome> => {
  const key = paymentKey(creating.paymentId)
  const isIts = all(isCreating, isAttempt(creating.attempt))
  const ended = { failure, providerAttempts }
  const ttl = forgettable ? ttlSeconds(deps.now()) + REFUSED_RETENTION_MS / SECOND_MS : undefined
  const released = await deps.table.write(
    update(
      key,
      { set: { ...ended, ttl }, remove: ['leaseUntil', ...DUE_WORK_FIELDS] },
      all(isIts, absent('rememberedProviderPaymentIds')),
    ),
  )
  if (released.applied || released.item?.['rememberedProviderPaymentIds'] === undefined) return released
  return deps.table.write(update(key, { set: ended, remove: ['leaseUntil'] }, isIts))
}

/** A capture came while the attempt runs. It is checked when the lease ends (design section 4). */
export const rememberCapture = (
  deps: TableDeps,
  creating: CreatingPayment,
  providerPaymentId: string,
  dueAt: Timestamp,
): Promise<WriteOutcome> =>
  deps.table.write(
    update(
      paymentKey(creating.paymentId),
      {
        add: { rememberedProviderPaymentIds: new Set([providerPaymentId]) },
        set: { id: creating.paymentId, ...dueWork('payment', creating.paymentId, dueAt) },
        remove: ['ttl'],
      },
      isCreating,
    ),
  )
