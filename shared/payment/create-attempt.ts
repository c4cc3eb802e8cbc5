import type { Client } from '../client/client.ts'
import { displayNameOf } from '../client/display-name.ts'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { type CreateAnswer, type CreateRequestInput, PROVIDER_CREATE_TIMEOUT_MS } from '../provider/provider.ts'
import { DID_NOT_ANSWER, FAILED } from '../provider/provider-failure.ts'
import { cancelOrphan } from './cancel-orphan.ts'
import { expiryOf } from './channel-timing.ts'
import { commitAttempt } from './commit-attempt.ts'
import { COMMIT_RESERVE_MS, LEAST_CREATE_MS } from './create-times.ts'
import type { Deadline } from './deadline.ts'
import { loggedPayment } from './logged-payment.ts'
import type { CreatingPayment, Payment, ProviderAttempt } from './payment.ts'
import { findStoredPayment, releaseAttempt } from './payment-store.ts'
import { endAttempt, referenceOf } from './provider-attempts.ts'
import { createFailed } from './wait-for-attempt.ts'

export type CreateResult = { readonly payment: Payment; readonly replayed: boolean }

type AttemptDeps = Pick<Deps, 'table' | 'sleep' | 'random' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'stage'>

type Failure = Pick<ProviderAttempt, 'outcome'> & {
  readonly code?: string
  readonly message: string
  readonly paymentRequestId?: string
  /** Refused for our account, not for this payment. */
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
        message: 'the provider takes no payments right now; retry with the same Idempotency-Key',
      }
    case 'unknown':
      return {
        outcome: 'unknown',
        code: answer.reason,
        message: `${answer.answered ? FAILED : DID_NOT_ANSWER}; retry with the same Idempotency-Key`,
      }
  }
}

/** Records the failure, so that the next request may take over at once, and answers it (spec 4.1, rule 4). */
const fail = async (deps: AttemptDeps, creating: CreatingPayment, failure: Failure): Promise<CreateResult> => {
  const { message, ofAccount = false, ...end } = failure
  // A refusal of this payment alone is between its merchant and the provider; alarms must tell it from a failure of ours.
  const isRefusal = end.outcome === 'refused' && !ofAccount
  deps.log.warn(isRefusal ? 'payment.create_refused' : 'payment.create_failed', {
    ...loggedPayment({ ...creating, ...creating.request }),
    reason: end.code ?? end.outcome,
  })
  const released = await releaseAttempt(deps, creating, {
    failure: message,
    providerAttempts: endAttempt(creating.providerAttempts, end),
  })
  // Refused: another attempt or a capture has gone past this one. A payment that can be seen is the answer.
  const stored = released.applied ? undefined : await findStoredPayment(deps, creating.paymentId)
  if (stored && stored.status !== 'creating') return { payment: stored, replayed: true }
  throw createFailed(message)
}

const createInput = (
  deps: AttemptDeps,
  client: Client,
  { request, paymentId, attempt }: CreatingPayment,
  expiresAt: CreateRequestInput['expiresAt'],
): CreateRequestInput => ({
  reference: referenceOf(paymentId, attempt),
  method: request.method,
  channelCode: request.channelCode,
  amountMinor: request.notionalMinor,
  expiresAt,
  phone: request.customer?.phone,
  description: request.description,
  returnUrl: client.returnUrl ?? deps.stage.defaultReturnUrl,
  displayName: displayNameOf(client.name, deps.stage.defaultDisplayName),
})

/**
 * Makes one call of the provider's create for a claimed attempt and commits its destination. Whatever happens between
 * the call and the commit, the claim decides: an attempt that was overtaken cannot commit, and its request is
 * cancelled upstream.
 */
export const runAttempt = async (
  deps: AttemptDeps,
  client: Client,
  creating: CreatingPayment,
  deadline: Deadline,
): Promise<CreateResult> => {
  const budgetMs = deadline.remainingMs() - COMMIT_RESERVE_MS
  if (budgetMs < LEAST_CREATE_MS) {
    return fail(deps, creating, {
      outcome: 'not_executed',
      code: 'no_time_left',
      message: 'the request took too long before the provider was asked; retry with the same Idempotency-Key',
    })
  }
  const { expiresAt, sentUpstream } = expiryOf(creating.request, deps.now(), creating.request.expiresInSeconds)
  const answer = await deps.provider.createRequest(
    createInput(deps, client, creating, sentUpstream),
    Math.min(PROVIDER_CREATE_TIMEOUT_MS, budgetMs),
  )
  if (answer.kind !== 'created') return fail(deps, creating, failureOf(answer))
  const { paymentRequestId, destination } = answer.request
  if (destination === undefined) {
    // Nothing the customer could be shown: the request is of no use and must not stay payable.
    await cancelOrphan(deps, paymentRequestId, creating.paymentId)
    return fail(deps, creating, {
      outcome: 'unknown',
      code: 'no_destination',
      message: 'the provider gave no payment destination; retry with the same Idempotency-Key',
      paymentRequestId,
    })
  }
  const providerAttempts = endAttempt(creating.providerAttempts, { outcome: 'created', paymentRequestId })
  const committed = await commitAttempt(
    deps,
    { ...creating, providerAttempts },
    { paymentRequestId, destination, expiresAt },
    deadline,
  )
  if (committed.kind === 'committed') return { payment: committed.payment, replayed: false }
  await cancelOrphan(deps, paymentRequestId, creating.paymentId)
  if (committed.kind === 'overtaken_by' && committed.stored.status !== 'creating') {
    return { payment: committed.stored, replayed: true }
  }
  throw new GatewayError(
    'internal_error',
    'another attempt is creating this payment; retry with the same Idempotency-Key',
  )
}
