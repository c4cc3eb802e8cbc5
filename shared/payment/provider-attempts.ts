import type { ProviderAttempt } from './payment.ts'

/** How an attempt ended when the provider created its request and the table refused it. */
export const COMMIT_FAILED = 'commit_failed'

const MOST_KEPT = 20
/** If all of them may have been sent, the oldest ones stay. */
const KEPT_FIRST = 10

/** Whether the provider may have created its request. Refused and unsent attempts left nothing. */
export const mayBeSent = ({ outcome }: ProviderAttempt): boolean => outcome === 'unknown' || outcome === 'started'

/**
 * Adds an attempt. At twenty, the oldest attempt that left nothing at the provider is dropped, or the eleventh if all
 * may have.
 */
export const withAttempt = (attempts: readonly ProviderAttempt[], attempt: ProviderAttempt): ProviderAttempt[] => {
  const all = [...attempts, attempt]
  if (all.length <= MOST_KEPT) return all
  const unsent = all.findIndex((one) => !mayBeSent(one))
  return all.toSpliced(unsent === -1 ? KEPT_FIRST : unsent, 1)
}

/** Replaces the newest attempt with its outcome. */
export const endAttempt = (
  attempts: readonly ProviderAttempt[],
  end: Pick<ProviderAttempt, 'outcome' | 'code' | 'paymentRequestId' | 'endedAt'>,
): ProviderAttempt[] => attempts.map((attempt, at) => (at === attempts.length - 1 ? { ...attempt, ...end } : attempt))
