import type { Client } from '../../client/client.ts'
import type { Deps } from '../../deps.ts'
import { assertNever } from '../../errors.ts'
import { loggedPayment } from '../../log.ts'
import { type CreateAnswer, PROVIDER_CREATE_TIMEOUT_MS } from '../../provider/provider.ts'
import { DID_NOT_ANSWER, FAILED } from '../../provider/provider-failure.ts'
import type { Timestamp } from '../../time.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import { isPushChannel } from '../channel/channels.ts'
import { releaseAttempt } from '../creating-store.ts'
import type { Deadline } from '../deadline.ts'
import type { CreatingPayment, Payment, ProviderAttempt, StoredPayment } from '../payment.ts'
import { parseStored } from '../payment-store.ts'
import { COMMIT_FAILED, endAttempt } from '../provider-attempts.ts'
import { type Commit, commitAttempt, type Destination } from './commit-attempt.ts'
import { createInput } from './create-input.ts'
import { attemptStart, COMMIT_RESERVE_MS, LEAST_CREATE_MS, timesOf } from './create-times.ts'
import { createFailed } from './wait-for-attempt.ts'

export type CreateResult = { readonly payment: Payment; readonly replayed: boolean }

type AttemptDeps = Pick<Deps, 'table' | 'sleep' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'stage'>

type Failure = Pick<ProviderAttempt, 'outcome' | 'code' | 'paymentRequestId'> & {
  readonly message: string
  /** The provider refused our account, not this payment. */
  readonly ofAccount?: boolean | undefined
}

const failureOf = (answer: Exclude<CreateAnswer, { readonly kind: 'created' }>): Failure => {
  switch (answer.kind) {
    case 'refused':
      return {
        outcome: 'refused',
        code: answer.code,
        ofAccount: answer.ofAccount,
        message: `the provider refused the payment: ${answer.code}`,
      }
    case 'not_executed':
      return {
        outcome: 'not_executed',
        code: answer.reason,
        message: 'the provider accepts no payments right now; retry with the same Idempotency-Key',
      }
    case 'unknown':
      return {
        outcome: 'unknown',
        code: answer.reason,
        message: `${answer.answered ? FAILED : DID_NOT_ANSWER}; retry with the same Idempotency-Key`,
      }
  }
}

/**
 * Records how the attempt ended, so that the next request may take over at once. Answers the payment when another
 * attempt, a capture or our own commit has overtaken it.
 */
const release = async (
  deps: AttemptDeps,
  creating: CreatingPayment,
  { message, outcome, code, paymentRequestId }: Failure,
): Promise<StoredPayment | undefined> => {
  const released = await releaseAttempt(deps, creating, {
    failure: message,
    providerAttempts: endAttempt(creating.providerAttempts, { outcome, code, paymentRequestId, endedAt: deps.now() }),
    forgettable: outcome === 'refused' && !creating.mayExistUpstream,
  })
  return released.applied ? undefined : parseStored(released.item)
}

/** Records the failure and answers it (spec 4.1, rule 4). */
const fail = async (deps: AttemptDeps, creating: CreatingPayment, failure: Failure): Promise<CreateResult> => {
  const { message, outcome, code, ofAccount = false } = failure
  // Alarms must distinguish a refusal of one payment from a failure of ours.
  const isRefusal = outcome === 'refused' && !ofAccount
  deps.log.warn(isRefusal ? 'payment.create_refused' : 'payment.create_failed', {
    ...loggedPayment({ ...creating, ...creating.request }),
    reason: code ?? outcome,
  })
  const stored = await release(deps, creating, failure)
  if (stored && stored.status !== 'creating') return { payment: stored, replayed: true }
  throw createFailed(message)
}

/** A provider request that is never shown must not stay payable. */
const failWithOrphan = async (
  deps: AttemptDeps,
  creating: CreatingPayment,
  orphan: Failure & { readonly paymentRequestId: string },
): Promise<CreateResult> => {
  await cancelOrphan(deps, orphan.paymentRequestId, creating.paymentId)
  return fail(deps, creating, orphan)
}

/**
 * Commits, and releases the attempt when the commit failed, so that no caller waits for a lease without a process. The
 * release detects a commit that was applied after all.
 */
const commitOrRelease = async (
  deps: AttemptDeps,
  creating: CreatingPayment,
  upstream: Destination,
  deadline: Deadline,
): Promise<Commit> => {
  const { paymentRequestId } = upstream
  // The item stores the payment's own request once.
  const providerAttempts = endAttempt(creating.providerAttempts, { outcome: 'created' })
  try {
    return await commitAttempt(deps, { ...creating, providerAttempts }, upstream, deadline)
  } catch (error) {
    if (deadline.remainingMs() === 0) throw error
    const message = 'the payment could not be stored; retry with the same Idempotency-Key'
    const lost: Failure = { outcome: 'unknown', code: COMMIT_FAILED, message, paymentRequestId }
    const stored = await release(deps, creating, lost).catch(() => undefined)
    if (stored === undefined) throw error
    return stored.status !== 'creating' && stored.paymentRequestId === paymentRequestId
      ? { kind: 'committed', payment: stored }
      : { kind: 'overtaken_by', stored }
  }
}

const show = async (
  deps: AttemptDeps,
  creating: CreatingPayment,
  upstream: Destination,
  deadline: Deadline,
): Promise<CreateResult> => {
  const { paymentRequestId } = upstream
  const committed = await commitOrRelease(deps, creating, upstream, deadline)
  switch (committed.kind) {
    case 'committed':
      return { payment: committed.payment, replayed: false }
    case 'expired':
      return failWithOrphan(deps, creating, {
        outcome: 'unknown',
        code: 'expired_before_commit',
        message: 'the payment expired before it could be shown; retry with the same Idempotency-Key',
        paymentRequestId,
      })
    case 'overtaken_by':
      await cancelOrphan(deps, paymentRequestId, creating.paymentId)
      if (committed.stored.status !== 'creating') return { payment: committed.stored, replayed: true }
      throw createFailed('another attempt is creating this payment; retry with the same Idempotency-Key')
    default:
      return assertNever(committed)
  }
}

/**
 * The process was frozen after its claim until the lease had expired, and another attempt may have sent a push. On
 * other channels a second request is only an orphan, which is cancelled.
 */
const hasExpiredPushLease = ({ request, leaseUntil }: CreatingPayment, now: Timestamp): boolean =>
  isPushChannel(request) && leaseUntil !== undefined && leaseUntil <= now

/**
 * Calls the provider's create once for a claimed attempt, and commits its destination. The claim decides: an attempt
 * that was overtaken cannot commit, and its provider request is cancelled.
 */
export const runAttempt = async (
  deps: AttemptDeps,
  client: Client,
  creating: CreatingPayment,
  deadline: Deadline,
): Promise<CreateResult> => {
  const budgetMs = deadline.remainingMs() - COMMIT_RESERVE_MS
  if (budgetMs < LEAST_CREATE_MS || hasExpiredPushLease(creating, deps.now())) {
    return fail(deps, creating, {
      outcome: 'not_executed',
      code: 'no_time_left',
      message: 'the request took too long before the provider was asked; retry with the same Idempotency-Key',
    })
  }
  const { expiresAt, sentUpstream } = timesOf(creating.request, attemptStart(creating))
  const answer = await deps.provider.createRequest(
    createInput(deps.stage, client, creating, sentUpstream),
    Math.min(PROVIDER_CREATE_TIMEOUT_MS, budgetMs),
  )
  if (answer.kind !== 'created') return fail(deps, creating, failureOf(answer))
  const { paymentRequestId, destination } = answer.request
  if (destination !== undefined || isPushChannel(creating.request)) {
    return show(deps, creating, { paymentRequestId, destination, expiresAt }, deadline)
  }
  return failWithOrphan(deps, creating, {
    outcome: 'unknown',
    code: 'no_destination',
    message: 'the provider gave no payment destination; retry with the same Idempotency-Key',
    paymentRequestId,
  })
}
