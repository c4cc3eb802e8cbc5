import type { Client } from '../../client/client.ts'
import type { Deps } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { referenceOf } from '../../ids.ts'
import { countTransition } from '../../ledger/shard-store.ts'
import { loggedPayment } from '../../log.ts'
import { type CreateRequestInput, PROVIDER_CREATE_TIMEOUT_MS } from '../../provider/provider.ts'
import type { StageSettings } from '../../stage-settings.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../time.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import { channelOf, isPushChannel } from '../channel/channels.ts'
import { commitPending, isUnderLease, putPointers } from '../creating-store.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, StoredPayment } from '../payment.ts'
import { findStoredPayment } from '../payment-store.ts'
import { COMMIT_RESERVE_MS, type Deadline, MIN_CREATE_MS, timesOfAttempt } from './create-times.ts'
import {
  type AttemptDeps,
  COMMIT_FAILED,
  type CreateResult,
  endAttempt,
  failAttempt,
  failureOf,
  ourFailure,
  RETRY,
  release,
  replayOrFail,
} from './end-attempt.ts'

/** Calls the provider's create once for a claimed attempt. If it was overtaken, its request is cancelled. */
export const runAttempt = async (
  deps: AttemptDeps,
  client: Client,
  creating: CreatingPayment,
  deadline: Deadline,
): Promise<CreateResult> => {
  const isPush = isPushChannel(creating.request)
  const budgetMs = deadline.remainingMs() - COMMIT_RESERVE_MS
  // If the lease expired while the process was frozen, another attempt may have sent a push.
  if (budgetMs < MIN_CREATE_MS || (isPush && !isUnderLease(creating, deps.now()))) {
    return failAttempt(deps, creating, ourFailure('no_time_left'))
  }
  const { expiresAt, sentUpstream } = timesOfAttempt(creating)
  const answer = await deps.provider.createRequest(
    createInput(deps.stage, client, creating, sentUpstream),
    Math.min(PROVIDER_CREATE_TIMEOUT_MS, budgetMs),
  )
  if (answer.kind !== 'created') return failAttempt(deps, creating, failureOf(answer))
  const { paymentRequestId, destination } = answer.request
  const stored =
    destination === undefined && !isPush
      ? 'no_destination'
      : await commitOrRelease(deps, creating, { paymentRequestId, destination, expiresAt }, deadline)
  // Our commit was applied, or this very request was paid. The destination is the one to show.
  if (typeof stored !== 'string' && stored.status !== 'creating' && stored.paymentRequestId === paymentRequestId) {
    return { payment: stored, replayed: false }
  }
  // A provider request that is never shown must not stay payable.
  await cancelOrphan(deps, paymentRequestId, creating.paymentId)
  return typeof stored === 'string'
    ? failAttempt(deps, creating, ourFailure(stored, paymentRequestId))
    : replayOrFail(stored, `another attempt is creating this payment; ${RETRY}`)
}

const commitOrRelease = async (
  deps: AttemptDeps,
  creating: CreatingPayment,
  upstream: Destination,
  deadline: Deadline,
): Promise<Commit> => {
  // The item stores the payment's own request once.
  const providerAttempts = endAttempt(creating.providerAttempts, { outcome: 'created' })
  try {
    return await commitAttempt(deps, { ...creating, providerAttempts }, upstream, deadline)
  } catch (error) {
    if (deadline.remainingMs() === 0) throw error
    // A refused release shows whether the commit was applied after all.
    const failure = ourFailure(COMMIT_FAILED, upstream.paymentRequestId)
    const stored = await release(deps, creating, failure).catch(() => undefined)
    if (stored === undefined) throw error
    return stored
  }
}

/** The input of the provider's create call: only the fields that the channel requires. */
export const createInput = (
  stage: Pick<StageSettings, 'defaultReturnUrl' | 'defaultDisplayName'>,
  client: Pick<Client, 'name' | 'returnUrl'>,
  { request, paymentId, attempt }: Pick<CreatingPayment, 'request' | 'paymentId' | 'attempt'>,
  expiresAt: Timestamp | undefined,
): CreateRequestInput => {
  const { needs } = channelOf(request)
  const phone = needs.phone && request.customer?.phone
  assertInvariant(!needs.phone || phone !== undefined, 'a channel that needs a phone is asked for without one')
  const returnUrl = client.returnUrl ?? stage.defaultReturnUrl
  return {
    reference: referenceOf(paymentId, attempt),
    method: request.method,
    channelCode: request.channelCode,
    amountMinor: request.notionalMinor,
    description: request.description,
    expiresAt,
    displayName: needs.displayName && displayNameOf(client.name, stage.defaultDisplayName),
    phone,
    returnUrls: Object.fromEntries((needs.returnUrls ?? []).map((outcome) => [outcome, returnUrl])),
  }
}

const SHORTEST_NAME = 3
const LONGEST_NAME = 50

/** The name that a bank shows to the payer: letters and spaces only. Too few of them: the stage's default. */
const displayNameOf = (clientName: string, fallback: string): string => {
  const plain = clientName
    .normalize('NFKD')
    .replace(/[^A-Za-z ]/g, '')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
    .trim()
  return plain.length >= SHORTEST_NAME ? plain : fallback
}

type CommitDeps = Pick<Deps, 'table' | 'sleep' | 'now' | 'log'>

type Destination = {
  readonly paymentRequestId: string
  readonly destination: string | undefined
  readonly expiresAt: Timestamp
}

/** The payment as this or another attempt stored it. `expired_before_commit`: its destination came too late. */
type Commit = StoredPayment | 'expired_before_commit'

const MAX_TRIES = 4
const RETRY_MS = 250

const isStillOurs = (stored: StoredPayment, { attempt }: CreatingPayment): stored is CreatingPayment =>
  stored.status === 'creating' && stored.attempt === attempt

const tryCommit = async (deps: CommitDeps, creating: CreatingPayment, upstream: Destination): Promise<Commit> => {
  const now = deps.now()
  const reread = async () => {
    const stored = await findStoredPayment(deps, creating.paymentId)
    assertInvariant(stored !== undefined, 'a claimed payment is never deleted')
    return stored
  }
  if (upstream.expiresAt <= now) {
    // An earlier try may have been applied. Then the payment exists and expires like any other.
    const stored = await reread()
    return isStillOurs(stored, creating) ? 'expired_before_commit' : stored
  }
  // A capture that came during the create is checked at once.
  const dueAt = creating.rememberedProviderPaymentIds ? now : timesOfAttempt(creating).dueAt
  const payment = { ...newPayment(creating, upstream, { createdAt: now, expiresAt: upstream.expiresAt }), dueAt }
  await putPointers(deps, payment)
  const outcome = await deps.table.transact(
    { payment: commitPending(payment), counts: countTransition({ ...payment, from: undefined, to: 'pending' }) },
    addMs(now, MINUTE_MS),
  )
  // After a freeze between two tries `created_at` would be far in the past.
  if (!outcome.applied) return outcome.refusedBy === 'stale' ? creating : reread()
  deps.log.info('payment.created', loggedPayment(payment))
  return payment
}

/**
 * Moves a payment from `creating` to `pending` with its destination (design section 4, Create, step 5). A failed write
 * is retried while time is left, because its answer may have been lost; the condition tells. When the outcome stays
 * unknown it throws. The provider request then stays, because the payment may show it.
 */
export const commitAttempt = async (
  deps: CommitDeps,
  creating: CreatingPayment,
  upstream: Destination,
  deadline: Deadline,
): Promise<Commit> => {
  let current = creating
  for (let tried = 1; ; tried++) {
    try {
      const stored = await tryCommit(deps, current, upstream)
      if (stored === 'expired_before_commit' || !isStillOurs(stored, creating)) return stored
      current = { ...current, rememberedProviderPaymentIds: stored.rememberedProviderPaymentIds }
      if (tried >= MAX_TRIES) throw new Error('a payment kept changing while it was committed')
    } catch (error) {
      if (tried >= MAX_TRIES || deadline.remainingMs() < RETRY_MS) throw error
      await deps.sleep(RETRY_MS)
    }
  }
}
