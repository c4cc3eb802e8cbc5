import type { CallLimits } from '../config.ts'

/**
 * Deadlines of one HTTP try of the AWS SDK. Without `throwOnRequestTimeout` the SDK only warns, and a hung connection
 * would use up the whole function.
 */
export const AWS_HTTP_OPTIONS = {
  connectionTimeout: 1_000,
  requestTimeout: 3_000,
  throwOnRequestTimeout: true,
} as const

/** Options of a client whose function limits its calls; none where it does not. */
export const limitedCalls = (calls: CallLimits | undefined) =>
  calls && { maxAttempts: calls.tries, requestHandler: { ...AWS_HTTP_OPTIONS, requestTimeout: calls.timeoutMs } }
