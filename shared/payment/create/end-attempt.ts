import type { Deps } from '../../deps.ts'
import { GatewayError } from '../../errors.ts'
import { loggedPayment } from '../../log.ts'
import type { CreateAnswer } from '../../provider/provider.ts'
import { DID_NOT_ANSWER, FAILED } from '../../provider/provider.ts'
import { releaseAttempt } from '../creating-store.ts'
import type { CreatingPayment, Payment, ProviderAttempt, StoredPayment } from '../payment.ts'
import { parseStored } from '../payment-store.ts'

export type CreateResult = { readonly payment: Payment; readonly replayed: boolean }

export type AttemptDeps = Pick<Deps, 'table' | 'sleep' | 'provider' | 'now' | 'monotonicMs' | 'log' | 'stage'>

type Failure = Pick<ProviderAttempt, 'outcome' | 'code' | 'paymentRequestId'> & {
  readonly message: string
  /** The provider refused our account, not this payment. */
  readonly isAccountWide?: boolean | undefined
}

export const RETRY = 'retry with the same Idempotency-Key'

/** How an attempt ended when the provider created its request and the table refused it. */
export const COMMIT_FAILED = 'commit_failed'

/** Failures of ours. After all but the first, the provider has a request. */
const FAILURES = {
  no_time_left: {
    outcome: 'not_executed',
    message: `the request took too long before the provider was asked; ${RETRY}`,
  },
  no_destination: { outcome: 'unknown', message: `the provider gave no payment destination; ${RETRY}` },
  expired_before_commit: { outcome: 'unknown', message: `the payment expired before it could be shown; ${RETRY}` },
  [COMMIT_FAILED]: { outcome: 'unknown', message: `the payment could not be stored; ${RETRY}` },
} as const satisfies Record<string, Failure>

export const ourFailure = (code: keyof typeof FAILURES, paymentRequestId?: string): Failure => ({
  ...FAILURES[code],
  code,
  paymentRequestId,
})

export const failureOf = (answer: Exclude<CreateAnswer, { readonly kind: 'created' }>): Failure => {
  if (answer.kind === 'refused') {
    const { kind: outcome, code, isAccountWide } = answer
    return { outcome, code, isAccountWide, message: `the provider refused the payment: ${code}` }
  }
  const { kind: outcome, reason: code } = answer
  if (answer.kind === 'not_executed') {
    return { outcome, code, message: `the provider accepts no payments right now; ${RETRY}` }
  }
  return { outcome, code, message: `${answer.answered ? FAILED : DID_NOT_ANSWER}; ${RETRY}` }
}

export const endAttempt = (
  attempts: readonly ProviderAttempt[],
  end: Pick<ProviderAttempt, 'outcome' | 'code' | 'paymentRequestId' | 'endedAt'>,
): ProviderAttempt[] => attempts.map((attempt, at) => (at === attempts.length - 1 ? { ...attempt, ...end } : attempt))

/** The next attempt may take over. Answers the payment if this one was overtaken. */
export const release = async (
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

/** It is safe to retry with the same key (spec 4.1, rule 4). */
export const createFailed = (failure: string): GatewayError => new GatewayError('internal_error', failure)

/** Answers the payment if another attempt or a capture has made it visible. */
export const replayOrFail = (stored: StoredPayment | undefined, failure: string): CreateResult => {
  if (stored && stored.status !== 'creating') return { payment: stored, replayed: true }
  throw createFailed(failure)
}

export const failAttempt = async (
  deps: AttemptDeps,
  creating: CreatingPayment,
  failure: Failure,
): Promise<CreateResult> => {
  const { message, outcome, code, isAccountWide = false } = failure
  // Alarms must distinguish a refusal of one payment from a failure of ours.
  const isRefusal = outcome === 'refused' && !isAccountWide
  deps.log.warn(isRefusal ? 'payment.create_refused' : 'payment.create_failed', {
    ...loggedPayment({ ...creating, ...creating.request }),
    reason: code ?? outcome,
  })
  return replayOrFail(await release(deps, creating, failure), message)
}
