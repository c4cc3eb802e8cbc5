import type { Deps } from '../deps.ts'
import type { ProviderOperation } from './provider.ts'
import { callsPerMinute } from './provider-quota.ts'

/** An operation is scarce below this part of a minute's calls. */
const SCARCE_BELOW = 1 / 2

/** Whether few calls of an operation are left in the provider's minute, by the last answer in this environment. */
export const isScarce = (
  { provider, stage, now }: Pick<Deps, 'provider' | 'stage' | 'now'>,
  operation: ProviderOperation,
): boolean => {
  const left = provider.callsLeft(operation)
  return left !== undefined && left < callsPerMinute(stage, now()) * SCARCE_BELOW
}
