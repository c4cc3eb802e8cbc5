/**
 * Deadlines of one HTTP try of the AWS SDK. Without `throwOnRequestTimeout` the SDK only warns, and a hung connection
 * would use up the whole function.
 */
export const AWS_HTTP_OPTIONS = {
  connectionTimeout: 1_000,
  requestTimeout: 3_000,
  throwOnRequestTimeout: true,
} as const

/** Of one call of the table or of a queue. */
export type CallLimits = { readonly tries: number; readonly timeoutMs: number }

/** Options of a client whose function limits its calls; none where it does not. */
export const limitedCalls = (calls: CallLimits | undefined) =>
  calls && { maxAttempts: calls.tries, requestHandler: { ...AWS_HTTP_OPTIONS, requestTimeout: calls.timeoutMs } }
