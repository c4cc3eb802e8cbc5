import { GatewayError } from '../errors.ts'
import type { Unanswered } from './provider.ts'

/** Said only where nothing came back. */
export const DID_NOT_ANSWER = 'the provider did not answer'
export const FAILED = 'the provider failed'

/**
 * No answer (connection, TLS, timeout) is `network`; the provider answered, whatever it said: `server_error` (spec 7).
 * What it refused of us is nothing a merchant could mend: the log names it.
 */
const FAILURES = {
  unreachable: { code: 'network', said: DID_NOT_ANSWER },
  server_error: { code: 'server_error', said: FAILED },
  rate_limited: { code: 'server_error', said: 'the provider takes no more calls for now' },
  misconfigured: { code: 'server_error', said: FAILED },
  refused: { code: 'server_error', said: FAILED },
} as const satisfies Record<Unanswered['reason'], object>

/** The one 502 for a question the provider left open, whoever asked it. `advice`: what holds now and what to do. */
export const providerFailure = (
  { reason }: Pick<Unanswered, 'reason'>,
  advice: string,
  details: { readonly actionHint?: string } = {},
): GatewayError => {
  const { code, said } = FAILURES[reason]
  return new GatewayError(code, `${said}; ${advice}`, details)
}
