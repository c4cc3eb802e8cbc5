import * as v from 'valibot'
import type { PaymentId } from '../ids.ts'
import { PaymentIdSchema } from '../ids.ts'
import type { ProviderAttempt } from './payment.ts'

/** How an attempt ended whose request the provider has made and the table could not take. */
export const COMMIT_FAILED = 'commit_failed'

/** How many attempts are kept from each end of a payment's history. */
const KEPT_EACH_END = 10

/** Adds an attempt, keeping the first ten and the last ten. */
export const withAttempt = (attempts: readonly ProviderAttempt[], attempt: ProviderAttempt): ProviderAttempt[] => {
  const all = [...attempts, attempt]
  return all.length <= 2 * KEPT_EACH_END ? all : [...all.slice(0, KEPT_EACH_END), ...all.slice(-KEPT_EACH_END)]
}

/** Replaces the newest attempt by how it ended. */
export const endAttempt = (
  attempts: readonly ProviderAttempt[],
  end: Pick<ProviderAttempt, 'outcome' | 'code' | 'paymentRequestId' | 'endedAt'>,
): ProviderAttempt[] => attempts.map((attempt, at) => (at === attempts.length - 1 ? { ...attempt, ...end } : attempt))

/** Names our payment and its attempt in everything the provider says: `<payment id>-<attempt>`. */
export const referenceOf = (paymentId: PaymentId, attempt: number): string => `${paymentId}-${attempt}`

const REFERENCE = /^([0-9a-f-]{36})-\d{1,9}$/

/** The payment a reference names; undefined when it is not one of ours. */
export const paymentIdOf = (reference: string): PaymentId | undefined => {
  const parsed = v.safeParse(PaymentIdSchema, REFERENCE.exec(reference)?.[1])
  return parsed.success ? parsed.output : undefined
}
