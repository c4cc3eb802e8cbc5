import type { Client } from '../../client/client.ts'
import { assertInvariant, assertNever } from '../../errors.ts'
import { referenceOf } from '../../ids.ts'
import { type CreateRequestInput, PROVIDER_CREATE_TIMEOUT_MS } from '../../provider/provider.ts'
import type { StageSettings } from '../../stage-settings.ts'
import type { Timestamp } from '../../time.ts'
import { channelOf, isPushChannel } from '../channel/channels.ts'
import type { CreatingPayment } from '../payment.ts'
import { type Commit, commitAttempt, type Destination } from './commit-attempt.ts'
import { attemptStart, COMMIT_RESERVE_MS, type Deadline, LEAST_CREATE_MS, timesOf } from './create-times.ts'
import {
  type AttemptDeps,
  type CreateResult,
  endAttempt,
  failAttempt,
  failureOf,
  failWithOrphan,
  ourFailure,
  releaseUncommitted,
  yieldTo,
} from './end-attempt.ts'

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
    return failAttempt(deps, creating, ourFailure('no_time_left'))
  }
  const { expiresAt, sentUpstream } = timesOf(creating.request, attemptStart(creating))
  const answer = await deps.provider.createRequest(
    createInput(deps.stage, client, creating, sentUpstream),
    Math.min(PROVIDER_CREATE_TIMEOUT_MS, budgetMs),
  )
  if (answer.kind !== 'created') return failAttempt(deps, creating, failureOf(answer))
  const { paymentRequestId, destination } = answer.request
  if (destination === undefined && !isPushChannel(creating.request)) {
    return failWithOrphan(deps, creating, 'no_destination', paymentRequestId)
  }
  const committed = await commitOrRelease(deps, creating, { paymentRequestId, destination, expiresAt }, deadline)
  switch (committed.kind) {
    case 'committed':
      return { payment: committed.payment, replayed: false }
    case 'expired':
      return failWithOrphan(deps, creating, 'expired_before_commit', paymentRequestId)
    case 'overtaken_by':
      return yieldTo(deps, committed.stored, paymentRequestId)
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
    return releaseUncommitted(deps, creating, upstream.paymentRequestId, error)
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

/**
 * The name that a bank shows to the payer of a virtual account. Banks accept letters and spaces only. A name with too
 * few of them is replaced by the stage's default.
 */
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
