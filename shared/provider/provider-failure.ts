import { GatewayError } from '../errors.ts'
import type { Unanswered } from './provider.ts'

/** Only for a call without any answer. */
export const DID_NOT_ANSWER = 'the provider did not answer'
export const FAILED = 'the provider failed'

/** No answer is `network`, any answer `server_error` (spec 7). Refusals of our own call are in the log alone. */
const FAILURES = {
  unreachable: { code: 'network', said: DID_NOT_ANSWER },
  server_error: { code: 'server_error', said: FAILED },
  rate_limited: { code: 'server_error', said: "the provider's rate limit is reached" },
  misconfigured: { code: 'server_error', said: FAILED },
  refused: { code: 'server_error', said: FAILED },
} as const satisfies Record<Unanswered['reason'], object>

/** The 502 error for a provider call without a usable answer. `advice`: the present state and what to do. */
export const providerFailure = (
  { reason }: Pick<Unanswered, 'reason'>,
  advice: string,
  details: { readonly actionHint?: string } = {},
): GatewayError => {
  const { code, said } = FAILURES[reason]
  return new GatewayError(code, `${said}; ${advice}`, details)
}
