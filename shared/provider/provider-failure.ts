import { GatewayError } from '../errors.ts'
import type { Unanswered } from './provider.ts'

/** Only for a call without any answer. */
export const DID_NOT_ANSWER = 'the provider did not answer'
export const FAILED = 'the provider failed'

/** The 502 error for a provider call without a usable answer (spec 7). `advice`: the present state and what to do. */
export const providerFailure = (
  { reason }: Pick<Unanswered, 'reason'>,
  advice: string,
  details: { readonly actionHint?: string } = {},
): GatewayError => {
  if (reason === 'unreachable') return new GatewayError('network', `${DID_NOT_ANSWER}; ${advice}`, details)
  // Refusals of our own call are in the log alone.
  const said = reason === 'rate_limited' ? "the provider's rate limit is reached" : FAILED
  return new GatewayError('server_error', `${said}; ${advice}`, details)
}
