import { channelOf, isPushChannel } from '../../channel/channels.ts'
import type { Caller } from '../../client/client.ts'
import type { Deps } from '../../deps.ts'
import { assertInvariant, GatewayError, limitError } from '../../errors.ts'
import {
  type ClientId,
  keyDigestOf,
  newKeyDigest,
  paymentIdFor,
  paymentIdForKey,
} from '../../ids.ts'
import { isScarce, pausedUntil, takeShare } from '../../provider/quota-store.ts'
import { paymentKey } from '../../table/keys.ts'
import { UPSTREAM } from '../../table/upstream.ts'
import { addMs, msBetween, SECOND_MS } from '../../time.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import {
  ATTEMPT_LEASE_MS,
  claimPayment,
  claimTakeover,
  isUnderLease,
  mayBeUpstream,
} from '../creating-store.ts'
import type { NewsDeps } from '../news/ask-for-news.ts'
import type { CreatingPayment, PaymentRequest, ProviderAttempt, StoredPayment } from '../payment.ts'
import { findStoredPayment, isForeign, parseStored } from '../payment-store.ts'
import {
  createTimeoutMs,
  type Deadline,
  providerWithin,
  startDeadline,
  timesOf,
} from './create-times.ts'
import { holdBackPush, type OvertakenCreate } from './hold-back-push.ts'
import type { ParsedRequest } from './parse-payment-request.ts'
import {
  COMMIT_FAILED,
  type CreateResult,
  createError,
  loggedCreate,
  NO_TIME_LEFT,
  retryError,
  runAttempt,
} from './run-attempt.ts'
import { takePush } from './take-push.ts'

type CreateDeps = NewsDeps &
  Pick<Deps, 'sleep' | 'random' | 'randomBytes' | 'monotonicMs' | 'memory'>

/**
 * Creates a payment (spec 4.1). One client and key have one payment for ever, and at most one
 * destination is ever shown. After a crash at any point a retry takes over the claim. A concurrent
 * caller waits and gets the same payment.
 */
export async function createPayment(
  baseDeps: CreateDeps,
  input: {
    readonly client: Caller
    readonly idempotencyKey: string | undefined
    readonly parsed: ParsedRequest
    readonly startedMs?: number
  },
): Promise<CreateResult> {
  const { client, idempotencyKey, parsed } = input
  const deadline = startDeadline(baseDeps, input.startedMs)
  const deps = { ...baseDeps, provider: providerWithin(baseDeps.provider, deadline) }
  const call = { client, parsed, deadline }
  if (!parsed.ok) {
    const stored =
      idempotencyKey &&
      (await findStoredPayment(deps, paymentIdForKey(client.clientId, idempotencyKey)))
    if (!stored) throw parsed.error
    return resumeCreate(deps, stored, call)
  }
  const keyDigest = idempotencyKey ? keyDigestOf(idempotencyKey) : newKeyDigest(deps)
  const creating = newCreatingPayment(deps, client.clientId, keyDigest, parsed.request)
  try {
    return await beginCreate(deps, creating, call)
  } catch (error) {
    // For the alarm of creates. Other failures were logged once their attempt was released.
    const reason = error instanceof GatewayError ? error.cause : 'internal_error'
    if (typeof reason === 'string')
      deps.log.warn('payment.create_failed', { ...loggedCreate(creating), reason })
    throw error
  }
}

async function beginCreate(deps: CreateDeps, creating: CreatingPayment, call: Call) {
  const pauseMs = await waitOutPause(deps)
  const stored = await readBeforeLimits(deps, creating, pauseMs !== undefined)
  if (stored) return resumeCreate(deps, stored, call)
  if (pauseMs !== undefined) throw pausedError(pauseMs)
  // The call comes first, because a create without a call sends no push.
  const giveBackCall = await takeShare(deps, creating.clientId)
  if (isPushChannel(creating.request)) await takePush(deps, creating, giveBackCall)
  const outcome = await claimPayment(deps, creating)
  if (outcome.applied) return runAttempt(deps, call.client, creating, call.deadline)
  await giveBackCall()
  return resumeCreate(deps, parseStored(outcome.item), call)
}

/**
 * The payment, if a limit could refuse its create. No limit holds for a replay, because it makes no
 * call. Without limits only the claim reads the payment.
 */
async function readBeforeLimits(
  deps: CreateDeps,
  { paymentId, request }: CreatingPayment,
  isPaused: boolean,
) {
  if (isPaused || isScarce(deps)) return findStoredPayment(deps, paymentId)
  if (!deps.stage.pushLimit || !isPushChannel(request)) return undefined
  // This read may miss a payment of just now, whose push is counted.
  const [known] = await deps.table.getMany([paymentKey(paymentId)], 'eventual')
  return known && findStoredPayment(deps, paymentId)
}

/** A shorter pause is waited for. */
const LONGEST_WAIT_MS = 2 * SECOND_MS

/**
 * Waits for the end of the provider's pause of creates, or answers the milliseconds until then. An
 * environment that has the provider's latest figures reads no table.
 */
async function waitOutPause(deps: CreateDeps) {
  const { provider, now, sleep } = deps
  const isKnown = provider.callsLeft('createRequest') !== undefined
  const until = isKnown ? undefined : await pausedUntil(deps, 'createRequest')
  const waitMs = until ? msBetween(now(), until) : provider.pauseMs('createRequest')
  if (waitMs > LONGEST_WAIT_MS) return waitMs
  if (waitMs > 0) await sleep(waitMs)
  return undefined
}

function pausedError(pauseMs: number) {
  return limitError('the provider accepts no payments now', pauseMs, 'no_capacity')
}

type Call = { readonly client: Caller; readonly parsed: ParsedRequest; readonly deadline: Deadline }

/** A caller meets at most its own claim, one running attempt and a few lost takeovers. */
async function resumeCreate(
  deps: CreateDeps,
  stored: StoredPayment | undefined,
  call: Call,
  roundsLeft = 5,
): Promise<CreateResult> {
  if (stored === undefined || roundsLeft === 0)
    throw retryError('the payment could not be created now')
  const { client, parsed, deadline } = call
  const isRunning = stored.status === 'creating' && isUnderLease(stored, deps.now())
  const present = isRunning ? await waitForAttempt(deps, stored, deadline) : stored
  assertInvariant(!isForeign(present), 'the payment of a key is stored under another client')
  if (present.status !== 'creating') return { payment: present, outcome: 'replayed' }
  const takeover = await takeOverPayment(deps, present, parsed)
  if ('overtakenBy' in takeover)
    return resumeCreate(deps, takeover.overtakenBy, call, roundsLeft - 1)
  const result = await runAttempt(deps, client, takeover, deadline)
  return result.outcome === 'created' && takeover.request === present.request
    ? { ...result, outcome: 'resumed' }
    : result
}

/** A waiting caller gives up after this time, even if its request has more time. */
const WAIT_MS = 20_000

/**
 * Waits until the payment is visible, or until an attempt has ended before it called the provider:
 * the caller takes such a claim over if it has the time for a call. After any other failure only a
 * new request takes over, so waiting callers do not call a failing provider one after the other.
 */
export async function waitForAttempt(
  deps: Pick<Deps, 'table' | 'sleep' | 'random' | 'now' | 'monotonicMs'>,
  creating: CreatingPayment,
  deadline: Deadline,
): Promise<StoredPayment> {
  const end = deps.monotonicMs() + Math.min(WAIT_MS, deadline.remainingMs())
  for (let pollMs = 100; deps.monotonicMs() < end; pollMs = Math.min(pollMs * 2, 500)) {
    // Jitter spreads many waiting callers over the interval.
    await deps.sleep(Math.ceil(pollMs / 2 + (deps.random() * pollMs) / 2))
    const stored = await findStoredPayment(deps, creating.paymentId)
    if (stored && stored.status !== 'creating') return stored
    if (stored && isUnderLease(stored, deps.now())) continue
    if (stored && mayTakeOver(stored, deadline)) return stored
    throw stored?.failure
      ? createError(stored.failure, stored.providerAttempts.at(-1)?.wrongField)
      : retryError('the payment could not be created')
  }
  throw retryError('the payment is still being created')
}

function mayTakeOver({ providerAttempts }: CreatingPayment, deadline: Deadline) {
  return providerAttempts.at(-1)?.code === NO_TIME_LEFT && createTimeoutMs(deadline) !== undefined
}

/**
 * The new request if the provider refused the stored one and no attempt may exist there, else the
 * stored request.
 */
async function takeOverPayment(
  deps: CreateDeps,
  creating: CreatingPayment,
  parsed: ParsedRequest,
): Promise<CreatingPayment | OvertakenCreate> {
  const lastAttempt = creating.providerAttempts.at(-1)
  const mayExist = creating.mayExistUpstream || mayBeUpstream(lastAttempt)
  const isRefused = !mayExist && lastAttempt?.outcome === 'refused'
  if (isRefused && !parsed.ok) throw parsed.error
  const pauseMs = await waitOutPause(deps)
  if (pauseMs !== undefined) throw pausedError(pauseMs)
  // The lease starts before the provider is asked, because an older answer may be outdated.
  const now = deps.now()
  const { push, needs } = channelOf(creating.request)
  if (push) {
    const overtaken = await holdBackPush(deps, creating, push.lifetimeMs)
    if (overtaken) return overtaken
  }
  const attempt = creating.attempt + 1
  const request = isRefused && parsed.ok ? parsed.request : creating.request
  if (needs.phone && request === creating.request && !request.customer?.phone) {
    throw createError(
      'the customer of this payment was erased; create it with another Idempotency-Key',
    )
  }
  const giveBackCall = await takeShare(deps, creating.clientId)
  // The request that is sent counts: a new request may be of another channel.
  await takePush(deps, { ...creating, attempt, request }, giveBackCall)
  const next: CreatingPayment = {
    ...creating,
    request,
    // A new request may name a customer again.
    erasedAt: request === creating.request ? creating.erasedAt : undefined,
    attempt,
    leaseUntil: addMs(now, ATTEMPT_LEASE_MS),
    mayExistUpstream: mayExist,
    providerAttempts: withAttempt(
      creating.providerAttempts,
      startedAttempt(deps, { number: attempt, startedAt: now }),
    ),
    failure: undefined,
    dueAt: timesOf(request, now).dueAt,
  }
  const outcome = await claimTakeover(deps, { read: creating, next }, now)
  if (!outcome.applied) {
    await giveBackCall()
    return { overtakenBy: parseStored(outcome.item) }
  }
  deps.log.info('payment.create_taken_over', { payment_id: creating.paymentId, attempt })
  // Until now an abandoned commit could still arrive and show this request.
  const orphan = lastAttempt?.code === COMMIT_FAILED ? lastAttempt.paymentRequestId : undefined
  if (orphan !== undefined && !isPushChannel(creating.request))
    await cancelOrphan(deps, orphan, creating.paymentId)
  return next
}

/**
 * Of more than twenty attempts, drops the oldest without a trace at the provider, else the
 * eleventh.
 */
export function withAttempt(
  attempts: readonly ProviderAttempt[],
  newAttempt: ProviderAttempt,
): ProviderAttempt[] {
  const allAttempts = [...attempts, newAttempt]
  if (allAttempts.length <= 20) return allAttempts
  const unsentIndex = allAttempts.findIndex((attempt) => !mayBeUpstream(attempt))
  return allAttempts.toSpliced(unsentIndex === -1 ? 10 : unsentIndex, 1)
}

function newCreatingPayment(
  deps: CreateDeps,
  clientId: ClientId,
  keyDigest: string,
  request: PaymentRequest,
): CreatingPayment {
  const now = deps.now()
  return {
    paymentId: paymentIdFor(clientId, keyDigest),
    clientId,
    keyDigest,
    status: 'creating',
    request,
    provider: UPSTREAM,
    attempt: 1,
    claimedAt: now,
    leaseUntil: addMs(now, ATTEMPT_LEASE_MS),
    providerAttempts: [startedAttempt(deps, { number: 1, startedAt: now })],
    mayExistUpstream: false,
    dueAt: timesOf(request, now).dueAt,
  }
}

function startedAttempt(
  { randomBytes }: CreateDeps,
  attempt: Pick<ProviderAttempt, 'number' | 'startedAt'>,
): ProviderAttempt {
  return { ...attempt, outcome: 'started', claimToken: randomBytes(6).toString('base64url') }
}
