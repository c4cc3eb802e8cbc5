import * as v from 'valibot'
import type { PaymentId } from '../ids.ts'
import { PaymentIdSchema } from '../ids.ts'
import type { ProviderAttempt } from './payment.ts'

/** How an attempt ended whose request the provider has made and the table could not take. */
export const COMMIT_FAILED = 'commit_failed'

const MOST_KEPT = 20
/** Where all of them may have been sent, those keep their place that came first. */
const KEPT_FIRST = 10

/** Whether the provider may have made its request: one that was refused or never left says nothing of any other. */
export const mayBeSent = ({ outcome }: ProviderAttempt): boolean => outcome === 'unknown' || outcome === 'started'

/** Adds an attempt. Of more than twenty the oldest goes that left nothing upstream, or the eleventh where all may have. */
export const withAttempt = (attempts: readonly ProviderAttempt[], attempt: ProviderAttempt): ProviderAttempt[] => {
  const all = [...attempts, attempt]
  if (all.length <= MOST_KEPT) return all
  const unsent = all.findIndex((one) => !mayBeSent(one))
  return all.toSpliced(unsent === -1 ? KEPT_FIRST : unsent, 1)
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
