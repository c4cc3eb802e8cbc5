import * as v from 'valibot'
import type { Client } from '../../client/client.ts'
import { partForClaim } from '../../client/ledger-parts.ts'
import { GatewayError } from '../../errors.ts'
import { type PaymentId, PaymentIdSchema, paymentIdForKey } from '../../ids.ts'
import { takeShare } from '../../provider/provider-quota.ts'
import { addMs } from '../../time.ts'
import { claimPayment } from '../creating-store.ts'
import type { CreatingPayment, PaymentRequest } from '../payment.ts'
import { findStoredPayment, parseStored } from '../payment-store.ts'
import { ATTEMPT_LEASE_MS, providerWithin, REQUEST_BUDGET_MS, startDeadline, timesOf } from './create-times.ts'
import type { CreateResult } from './end-attempt.ts'
import type { ParsedRequest } from './refuse-body.ts'
import { type CreateDeps, replay, resume } from './resume-payment.ts'
import { runAttempt } from './run-attempt.ts'

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
  const retryAfterSeconds = await takeShare(deps, 'createRequest', client.clientId)
  if (retryAfterSeconds !== undefined) {
    const stored = await findStoredPayment(deps, paymentId)
    if (!stored || stored.status === 'creating') throw shareUsedUp(retryAfterSeconds)
    return replay(stored)
  }
  const creating = claim(deps, client, paymentId, parsed.request)
  const claimed = await claimPayment(deps, creating)
  return claimed.applied
    ? runAttempt(deps, client, creating, deadline)
    : resume(deps, parseStored(claimed.item), { client, parsed, deadline })
}
