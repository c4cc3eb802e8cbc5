import { isListedChannel, mayPush } from '../../channel/channels.ts'
import type { Caller } from '../../client/client.ts'
import type { Deps } from '../../deps.ts'
import { assertInvariant, GatewayError, invalid } from '../../errors.ts'
import { countTransition } from '../../ledger/shard-store.ts'
import { loggedPayment } from '../../log.ts'
import { type CreateAnswer, DID_NOT_ANSWER, FAILED } from '../../provider/provider.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../time.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import {
  commitPending,
  isUnderLease,
  mayBeUpstream,
  releaseAttempt,
  writePointers,
} from '../creating-store.ts'
import { newPayment } from '../new-payment.ts'
import type { CreatingPayment, Payment, ProviderAttempt, StoredPayment } from '../payment.ts'
import { findStoredPayment, parseStored } from '../payment-store.ts'
import { createInput } from './create-input.ts'
import { createTimeoutMs, type Deadline, timesOfAttempt } from './create-times.ts'
import { explainRefusal, reportRefusal } from './explain-refusal.ts'

export type CreateResult = {
  readonly payment: Payment
  /** `resumed`: created now, from the request that an earlier caller of this key had sent. */
  readonly outcome: 'created' | 'resumed' | 'replayed'
}

type AttemptDeps = Pick<
  Deps,
  'table' | 'sleep' | 'provider' | 'now' | 'log' | 'stage' | 'alerts' | 'memory'
>

const RETRY = 'retry with the same Idempotency-Key'

/** Calls the provider's create once. The request of an overtaken attempt is cancelled. */
export async function runAttempt(
  deps: AttemptDeps,
  client: Caller,
  creating: CreatingPayment,
  deadline: Deadline,
): Promise<CreateResult> {
  const isPush = mayPush(creating.request)
  const timeoutMs = createTimeoutMs(deadline)
  // If the lease expired while the process was frozen, another attempt may have sent a push.
  if (timeoutMs === undefined || (isPush && !isUnderLease(creating, deps.now()))) {
    return failAttempt(deps, creating, ourFailure(NO_TIME_LEFT))
  }
  const { expiresAt, sentUpstream } = timesOfAttempt(creating)
  const input = createInput(deps.stage, client, creating, sentUpstream)
  const answer = await deps.provider.createRequest(input, timeoutMs)
  if (answer.kind !== 'created') {
    // The attempt ends in the same way if its report fails.
    await reportRefusal(deps, creating, answer).catch((cause: unknown) =>
      deps.log.error('alert.failed', { payment_id: creating.paymentId }, cause),
    )
    return failAttempt(deps, creating, failureOf(answer, creating))
  }
  const { paymentRequestId, destination, status } = answer.request
  // A request that has ended already shows nothing to pay; its news are asked for at once.
  const isDue = status !== 'open'
  const stored =
    destination === undefined && !isPush && !isDue
      ? 'no_destination'
      : await commitOrRelease(
          deps,
          creating,
          { paymentRequestId, destination, expiresAt, isDue },
          deadline,
        )
  // Our commit was applied, or this very request was paid. So its destination is shown.
  if (
    typeof stored !== 'string' &&
    stored.status !== 'creating' &&
    stored.paymentRequestId === paymentRequestId
  ) {
    return { payment: stored, outcome: 'created' }
  }
  // A provider request that is never shown must not stay payable.
  await cancelOrphan(deps, paymentRequestId, creating.paymentId)
  return typeof stored === 'string'
    ? failAttempt(deps, creating, ourFailure(stored, paymentRequestId))
    : replayOrFail(stored, `another attempt is creating this payment; ${RETRY}`)
}

/** Without `wrongField`, the failure counts as ours. */
type Failure = Pick<ProviderAttempt, 'outcome' | 'code' | 'wrongField' | 'paymentRequestId'> & {
  readonly message: string
  /** Operators were told that the channel is not activated. */
  readonly isReported?: boolean | undefined
}

async function failAttempt(
  deps: AttemptDeps,
  creating: CreatingPayment,
  failure: Failure,
): Promise<CreateResult> {
  const { message, outcome, code, wrongField, isReported } = failure
  const stored = await releaseAfterFailure(deps, creating, failure)
  // Alarms must distinguish the refusal of one payment, and what operators know, from our failure.
  const fields = { ...loggedCreate(creating), reason: code ?? outcome }
  const known = isReported ? 'payment.create_not_activated' : 'payment.create_failed'
  deps.log.warn(wrongField ? 'payment.create_refused' : known, fields)
  return replayOrFail(stored, message, wrongField)
}

/** The fields of a create's log lines: ids and channel, nothing of the customer. */
export function loggedCreate({ request, ...creating }: CreatingPayment) {
  return loggedPayment({ ...creating, ...request }, isListedChannel(request))
}

function replayOrFail(
  stored: StoredPayment | undefined,
  failure: string,
  wrongField?: string,
): CreateResult {
  if (stored && stored.status !== 'creating') return { payment: stored, outcome: 'replayed' }
  throw createError(failure, wrongField)
}

/** After a 500 a retry with the same key is safe (spec 4.1, rule 4); after a 422 it is refused. */
export function createError(failure: string, wrongField?: string): GatewayError {
  return wrongField
    ? invalid(failure, { [wrongField]: [failure] })
    : new GatewayError('internal_error', failure)
}

async function releaseAfterFailure(
  deps: AttemptDeps,
  creating: CreatingPayment,
  { message, outcome, code, wrongField, paymentRequestId }: Failure,
) {
  const releaseOutcome = await releaseAttempt(deps, creating, {
    failure: message,
    providerAttempts: endAttempt(creating.providerAttempts, {
      outcome,
      code,
      wrongField,
      paymentRequestId,
      endedAt: deps.now(),
    }),
    forgettable: !creating.mayExistUpstream && !mayBeUpstream({ outcome }),
  })
  return releaseOutcome.applied ? undefined : parseStored(releaseOutcome.item)
}

function endAttempt(
  attempts: readonly ProviderAttempt[],
  end: Partial<ProviderAttempt>,
): ProviderAttempt[] {
  return attempts.map((attempt, at) =>
    at === attempts.length - 1 ? { ...attempt, claimToken: undefined, ...end } : attempt,
  )
}

/** The provider created the attempt's request, but the table refused the payment. */
export const COMMIT_FAILED = 'commit_failed'

/** The attempt ended before it called the provider. */
export const NO_TIME_LEFT = 'no_time_left'

/** Our failures. After all but the first failure, the provider has a request. */
const FAILURES = {
  [NO_TIME_LEFT]: ['not_executed', 'the request took too long before the provider was asked'],
  no_destination: ['unknown', 'the provider gave no payment destination'],
  expired_before_commit: ['unknown', 'the payment expired before it could be shown'],
  [COMMIT_FAILED]: ['unknown', 'the payment could not be stored'],
} as const

function ourFailure(code: keyof typeof FAILURES, paymentRequestId?: string): Failure {
  const [outcome, message] = FAILURES[code]
  return { outcome, code, paymentRequestId, message: `${message}; ${RETRY}` }
}

function failureOf(
  answer: Exclude<CreateAnswer, { readonly kind: 'created' }>,
  { request }: CreatingPayment,
): Failure {
  if (answer.kind === 'refused') {
    const { kind: outcome, code, isNotActivated } = answer
    const explanation = explainRefusal(request, answer)
    const message = explanation?.message ?? `the provider refused the payment: ${code}`
    const wrongField = explanation?.field
    return { outcome, code, wrongField, isReported: isNotActivated, message }
  }
  const { kind: outcome, reason: code } = answer
  const failureText = answer.kind === 'unknown' && answer.answered ? FAILED : DID_NOT_ANSWER
  const cause =
    outcome === 'not_executed' ? 'the provider accepts no payments right now' : failureText
  return { outcome, code, message: `${cause}; ${RETRY}` }
}

type Destination = {
  readonly paymentRequestId: string
  readonly destination: string | undefined
  readonly expiresAt: Timestamp
  readonly isDue?: boolean
}

/** `expired_before_commit`: the destination came too late. */
type Commit = StoredPayment | 'expired_before_commit'

async function commitOrRelease(
  deps: AttemptDeps,
  creating: CreatingPayment,
  upstream: Destination,
  deadline: Deadline,
): Promise<Commit> {
  // The payment stores the request id.
  const providerAttempts = endAttempt(creating.providerAttempts, { outcome: 'created' })
  try {
    return await commitAttempt(deps, { ...creating, providerAttempts }, upstream, deadline)
  } catch (error) {
    if (deadline.remainingMs() === 0) throw error
    // A refused release shows whether the commit was applied after all.
    const failure = ourFailure(COMMIT_FAILED, upstream.paymentRequestId)
    const stored = await releaseAfterFailure(deps, creating, failure).catch(() => undefined)
    if (stored === undefined) throw error
    return stored
  }
}

const MAX_TRIES = 4
const RETRY_MS = 250

/**
 * Moves a payment from `creating` to `pending` with its destination (design section 4, Create, step
 * 5). A failed write is retried while time is left; after a lost answer the condition refuses.
 * Throws if the outcome stays unknown; the provider's request stays, as the payment may show it.
 */
export async function commitAttempt(
  deps: AttemptDeps,
  creating: CreatingPayment,
  upstream: Destination,
  deadline: Deadline,
): Promise<Commit> {
  let current = creating
  for (let tried = 1; ; tried++) {
    try {
      const stored = await tryCommit(deps, current, upstream)
      if (stored === 'expired_before_commit' || !isSameClaim(stored, creating)) return stored
      const { request, erasedAt, rememberedProviderPaymentIds } = stored
      current = { ...current, request, erasedAt, rememberedProviderPaymentIds }
      if (tried >= MAX_TRIES) throw new Error('a payment kept changing while it was committed')
    } catch (error) {
      if (tried >= MAX_TRIES || deadline.remainingMs() < RETRY_MS) throw error
      await deps.sleep(RETRY_MS)
    }
  }
}

async function tryCommit(
  deps: AttemptDeps,
  creating: CreatingPayment,
  upstream: Destination,
): Promise<Commit> {
  const now = deps.now()
  const reread = async () => {
    const stored = await findStoredPayment(deps, creating.paymentId)
    assertInvariant(stored !== undefined, 'a claimed payment is never deleted')
    return stored
  }
  if (upstream.expiresAt <= now) {
    // If an earlier try was applied, the payment exists, and expires like other payments.
    const stored = await reread()
    return isSameClaim(stored, creating) ? 'expired_before_commit' : stored
  }
  // A capture that came during the create is checked at once.
  const isDueNow = upstream.isDue || creating.rememberedProviderPaymentIds !== undefined
  const dueAt = isDueNow ? now : timesOfAttempt(creating).dueAt
  const payment = {
    ...newPayment(creating, upstream, { createdAt: now, expiresAt: upstream.expiresAt }),
    dueAt,
  }
  await writePointers(deps, payment)
  const outcome = await deps.table.transact(
    {
      payment: commitPending(payment),
      counts: countTransition({ ...payment, from: undefined, to: 'pending' }),
    },
    addMs(now, MINUTE_MS),
  )
  // After a freeze between two tries `created_at` would be far in the past.
  if (!outcome.applied) return outcome.refusedBy === 'stale' ? creating : reread()
  deps.log.info('payment.created', loggedPayment(payment, isListedChannel(payment)))
  return payment
}

function isSameClaim(
  stored: StoredPayment,
  { attempt }: CreatingPayment,
): stored is CreatingPayment {
  return stored.status === 'creating' && stored.attempt === attempt
}

export function retryError(why: string): GatewayError {
  return createError(`${why}; ${RETRY}`)
}
