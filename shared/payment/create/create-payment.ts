import * as v from 'valibot'
import { type Client, partForClaim } from '../../client/client.ts'
import type { Deps } from '../../deps.ts'
import { GatewayError } from '../../errors.ts'
import { type PaymentId, PaymentIdSchema, paymentIdForKey } from '../../ids.ts'
import { takeShare } from '../../provider/quota-store.ts'
import { addMs } from '../../time.ts'
import { cancelOrphan } from '../cancel-orphan.ts'
import { channelOf } from '../channel/channels.ts'
import { claimPayment, claimTakeover, isUnderLease } from '../creating-store.ts'
import type { NewsDeps } from '../news/ask-for-news.ts'
import type {
  CreatingPayment,
  Payment,
  PaymentRequest,
  ProviderAttempt,
  StoredPayment,
} from '../payment.ts'
import { findStoredPayment, parseStored } from '../payment-store.ts'
import {
  ATTEMPT_LEASE_MS,
  type Deadline,
  providerWithin,
  startDeadline,
  timesOf,
} from './create-times.ts'
import { holdBackPush, mayBeSent, type Overtaken } from './hold-back-push.ts'
import type { ParsedRequest } from './parse-payment-request.ts'
import {
  COMMIT_FAILED,
  type CreateResult,
  createFailed,
  retryCreate,
  runAttempt,
} from './run-attempt.ts'

type CreateDeps = NewsDeps & Pick<Deps, 'sleep' | 'random' | 'newId' | 'monotonicMs'>

/**
 * Creates a payment (spec 4.1). One client and key have one payment for ever, and at most one destination is ever
 * shown. After a crash at any point a retry takes over the claim. A concurrent caller waits and gets the same payment.
 */
export async function createPayment(
  given: CreateDeps,
  input: {
    readonly client: Client
    readonly idempotencyKey: string | undefined
    readonly parsed: ParsedRequest
  },
): Promise<CreateResult> {
  const { client, idempotencyKey, parsed } = input
  const deadline = startDeadline(given)
  const deps = { ...given, provider: providerWithin(given.provider, deadline) }
  if (!parsed.ok) {
    const stored =
      idempotencyKey &&
      (await findStoredPayment(deps, paymentIdForKey(client.clientId, idempotencyKey)))
    if (!stored) throw parsed.error
    return resume(deps, stored, { client, parsed, deadline })
  }
  const paymentId = idempotencyKey
    ? paymentIdForKey(client.clientId, idempotencyKey)
    : v.parse(PaymentIdSchema, deps.newId())
  const retryAfterSeconds = await takeShare(deps, 'createRequest', client.clientId)
  if (retryAfterSeconds !== undefined) {
    const stored = await findStoredPayment(deps, paymentId)
    if (stored && stored.status !== 'creating') return { payment: stored, replayed: true }
    const used = 'provider capacity is limited; your share for this minute is used; retry later'
    throw new GatewayError('rate_limit', used, { retryAfterSeconds })
  }
  const creating = claim(deps, client, paymentId, parsed.request)
  const claimed = await claimPayment(deps, creating)
  return claimed.applied
    ? runAttempt(deps, client, creating, deadline)
    : resume(deps, parseStored(claimed.item), { client, parsed, deadline })
}

type Call = { readonly client: Client; readonly parsed: ParsedRequest; readonly deadline: Deadline }

/**
 * Replays the payment, waits for its running attempt, or takes it over. The rounds are a bound: a caller meets at most
 * its own claim, one running attempt and one lost takeover.
 */
async function resume(
  deps: CreateDeps,
  stored: StoredPayment | undefined,
  call: Call,
  roundsLeft = 5,
): Promise<CreateResult> {
  if (stored === undefined || roundsLeft === 0)
    throw retryCreate('the payment could not be created now')
  if (stored.status !== 'creating') return { payment: stored, replayed: true }
  const { client, parsed, deadline } = call
  if (isUnderLease(stored, deps.now()))
    return { payment: await waitForAttempt(deps, stored, deadline), replayed: true }
  const taken = await takeOverPayment(deps, stored, parsed)
  return 'overtakenBy' in taken
    ? resume(deps, taken.overtakenBy, call, roundsLeft - 1)
    : runAttempt(deps, client, taken, deadline)
}

/** A waiting caller gives up after this time, even if its request has more. */
const WAIT_MS = 20_000

/** After the attempt's failure only a new request takes over, so waiting callers never race. */
export async function waitForAttempt(
  deps: Pick<Deps, 'table' | 'sleep' | 'random' | 'now' | 'monotonicMs'>,
  creating: CreatingPayment,
  deadline: Deadline,
): Promise<Payment> {
  const end = deps.monotonicMs() + Math.min(WAIT_MS, deadline.remainingMs())
  for (let pollMs = 100; deps.monotonicMs() < end; pollMs = Math.min(pollMs * 2, 500)) {
    // Jitter spreads many waiting callers over the interval.
    await deps.sleep(Math.ceil(pollMs / 2 + (deps.random() * pollMs) / 2))
    const stored = await findStoredPayment(deps, creating.paymentId)
    if (stored && stored.status !== 'creating') return stored
    if (!stored || !isUnderLease(stored, deps.now())) {
      throw stored?.failure
        ? createFailed(stored.failure)
        : retryCreate('the payment could not be created')
    }
  }
  throw retryCreate('the payment is still being created')
}

/** Claims the next attempt: of the new request if the provider refused every attempt for good, else of the stored one. */
async function takeOverPayment(
  deps: NewsDeps,
  creating: CreatingPayment,
  parsed: ParsedRequest,
): Promise<CreatingPayment | Overtaken> {
  const last = creating.providerAttempts.at(-1)
  const allRefused = !creating.mayExistUpstream && last?.outcome === 'refused'
  if (allRefused && !parsed.ok) throw parsed.error
  // The lease starts before the question: an older answer says nothing about now.
  const now = deps.now()
  const { push, needs } = channelOf(creating.request)
  if (push) {
    const overtaken = await holdBackPush(deps, creating, push.lifetimeMs)
    if (overtaken) return overtaken
  }
  const attempt = creating.attempt + 1
  const request = allRefused && parsed.ok ? parsed.request : creating.request
  if (needs.phone && request === creating.request && !request.customer?.phone) {
    throw createFailed(
      'the customer of this payment was erased; create it with another Idempotency-Key',
    )
  }
  const taken: CreatingPayment = {
    ...creating,
    request,
    attempt,
    leaseUntil: addMs(now, ATTEMPT_LEASE_MS),
    mayExistUpstream: creating.mayExistUpstream || last?.outcome !== 'refused',
    providerAttempts: withAttempt(creating.providerAttempts, {
      number: attempt,
      startedAt: now,
      outcome: 'started',
    }),
    failure: undefined,
    dueAt: timesOf(request, now).dueAt,
  }
  const claimed = await claimTakeover(deps, { read: creating, taken }, now)
  if (!claimed.applied) return { overtakenBy: parseStored(claimed.item) }
  deps.log.info('payment.create_taken_over', { payment_id: creating.paymentId, attempt })
  // Until now an abandoned commit could still arrive and show this request.
  const orphan = last?.code === COMMIT_FAILED ? last.paymentRequestId : undefined
  if (orphan !== undefined && !push) await cancelOrphan(deps, orphan, creating.paymentId)
  return taken
}

/** Adds an attempt. Of more than twenty, the oldest that left nothing at the provider is dropped, else the eleventh. */
export function withAttempt(
  attempts: readonly ProviderAttempt[],
  attempt: ProviderAttempt,
): ProviderAttempt[] {
  const all = [...attempts, attempt]
  if (all.length <= 20) return all
  const unsent = all.findIndex((one) => !mayBeSent(one))
  return all.toSpliced(unsent === -1 ? 10 : unsent, 1)
}

function claim(
  deps: CreateDeps,
  client: Client,
  paymentId: PaymentId,
  request: PaymentRequest,
): CreatingPayment {
  const now = deps.now()
  return {
    paymentId,
    clientId: client.clientId,
    part: partForClaim(client, paymentId, now),
    status: 'creating',
    request,
    provider: deps.provider.providerNameFor(request),
    attempt: 1,
    claimedAt: now,
    leaseUntil: addMs(now, ATTEMPT_LEASE_MS),
    providerAttempts: [{ number: 1, startedAt: now, outcome: 'started' }],
    mayExistUpstream: false,
    dueAt: timesOf(request, now).dueAt,
  }
}
