import * as v from 'valibot'
import type { Client } from '../../client/client.ts'
import { partForClaim } from '../../client/ledger-parts.ts'
import type { Deps } from '../../deps.ts'
import { GatewayError } from '../../errors.ts'
import { type PaymentId, PaymentIdSchema, paymentIdForKey } from '../../ids.ts'
import { takeShare } from '../../provider/take-share.ts'
import { addMs } from '../../time.ts'
import { claimPayment } from '../creating-store.ts'
import { type Deadline, providerWithin, startDeadline } from '../deadline.ts'
import type { CreatingPayment, Payment, PaymentRequest, StoredPayment } from '../payment.ts'
import { findStoredPayment, parseStored } from '../payment-store.ts'
import { ATTEMPT_LEASE_MS, REQUEST_BUDGET_MS, timesOf } from './create-times.ts'
import type { ParsedRequest } from './parse-payment-request.ts'
import { type CreateResult, runAttempt } from './run-attempt.ts'
import { takeOverPayment } from './take-over-payment.ts'
import { waitForAttempt } from './wait-for-attempt.ts'

type CreateDeps = Pick<
  Deps,
  'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'monotonicMs' | 'queues' | 'log' | 'alerts' | 'stage'
>

/** A caller meets at most its own claim, one running attempt and one lost takeover. */
const MAX_ROUNDS = 5

const replay = (payment: Payment): CreateResult => ({ payment, replayed: true })

const claim = (deps: CreateDeps, client: Client, paymentId: PaymentId, request: PaymentRequest): CreatingPayment => {
  const now = deps.now()
  return {
    paymentId,
    clientId: client.clientId,
    part: partForClaim(client, paymentId, now),
    status: 'creating',
    request,
    provider: deps.provider.nameFor(request),
    attempt: 1,
    claimedAt: now,
    leaseUntil: addMs(now, ATTEMPT_LEASE_MS),
    providerAttempts: [{ number: 1, startedAt: now, outcome: 'started' }],
    mayExistUpstream: false,
    dueAt: timesOf(request, now).dueAt,
  }
}

type Call = { readonly client: Client; readonly parsed: ParsedRequest; readonly deadline: Deadline }

/** A payment exists already: replay it, wait for its running attempt, or take it over. */
const resume = async (
  deps: CreateDeps,
  met: StoredPayment | undefined,
  { client, parsed, deadline }: Call,
): Promise<CreateResult> => {
  let stored = met
  for (let round = 0; round < MAX_ROUNDS && stored !== undefined; round++) {
    if (stored.status !== 'creating') return replay(stored)
    if (stored.leaseUntil !== undefined && stored.leaseUntil > deps.now()) {
      return replay(await waitForAttempt(deps, stored, deadline))
    }
    const taken = await takeOverPayment(deps, stored, parsed)
    if (taken.kind === 'taken') return runAttempt(deps, client, taken.creating, deadline)
    stored = taken.stored
  }
  throw new GatewayError('internal_error', 'the payment could not be created now; retry with the same Idempotency-Key')
}

const shareUsedUp = (retryAfterSeconds: number) =>
  new GatewayError('rate_limit', 'provider capacity is limited; your share for this minute is used; retry later', {
    retryAfterSeconds,
  })

/**
 * Creates a payment (spec 4.1). One client and key have one payment for ever, and at most one destination is ever
 * shown. After a crash at any point a retry takes over the claim. A concurrent caller waits and gets the same payment.
 * A reused key gets the original, whatever its body.
 */
export const createPayment = async (
  given: CreateDeps,
  input: { readonly client: Client; readonly idempotencyKey: string | undefined; readonly parsed: ParsedRequest },
): Promise<CreateResult> => {
  const { client, idempotencyKey, parsed } = input
  const deadline = startDeadline(given, REQUEST_BUDGET_MS)
  const deps = { ...given, provider: providerWithin(given.provider, deadline) }
  if (!parsed.ok) {
    const stored = idempotencyKey && (await findStoredPayment(deps, paymentIdForKey(client.clientId, idempotencyKey)))
    if (!stored) throw parsed.error
    return resume(deps, stored, { client, parsed, deadline })
  }
  const paymentId = idempotencyKey
    ? paymentIdForKey(client.clientId, idempotencyKey)
    : v.parse(PaymentIdSchema, deps.newId())
  const share = await takeShare(deps, 'createRequest', client.clientId)
  if (!share.taken) {
    const stored = await findStoredPayment(deps, paymentId)
    if (!stored || stored.status === 'creating') throw shareUsedUp(share.retryAfterSeconds)
    return replay(stored)
  }
  const creating = claim(deps, client, paymentId, parsed.request)
  const claimed = await claimPayment(deps, creating)
  return claimed.applied
    ? runAttempt(deps, client, creating, deadline)
    : resume(deps, parseStored(claimed.item), { client, parsed, deadline })
}
