import type { Deps } from '../../deps.ts'
import { GatewayError, invalid, limitError } from '../../errors.ts'
import { pausedUntil } from '../../provider/quota-store.ts'
import { msBetween, type Timestamp } from '../../time.ts'
import type { ProviderAttempt } from '../payment.ts'

export const RETRY = 'retry with the same Idempotency-Key'

/**
 * What a failed attempt answers, to its own caller and to those who waited for it: 429 if the
 * provider did nothing and pauses creates.
 */
export async function attemptError(
  deps: Pick<Deps, 'table' | 'provider' | 'now' | 'memory'>,
  failure: string,
  attempt?: Pick<ProviderAttempt, 'outcome' | 'wrongField'>,
): Promise<GatewayError> {
  if (attempt?.outcome !== 'not_executed') return createError(failure, attempt?.wrongField)
  // The pause may be younger than what this environment has read.
  deps.memory.providerPauses = undefined
  const until = await pausedUntil(deps, 'createRequest')
  return until === undefined ? createError(failure) : pausedError(deps, until)
}

export function pausedError({ now }: Pick<Deps, 'now'>, until: Timestamp): GatewayError {
  return limitError('the provider accepts no payments for now', msBetween(now(), until))
}

/** After a 500 a retry with the same key is safe (spec 4.1, rule 4); after a 422 it is refused. */
export function createError(failure: string, wrongField?: string): GatewayError {
  return wrongField
    ? invalid(failure, { [wrongField]: [failure] })
    : new GatewayError('internal_error', failure)
}

export function retryError(why: string): GatewayError {
  return createError(`${why}; ${RETRY}`)
}
