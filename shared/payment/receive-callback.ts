import type { Deps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { parseCallback } from '../provider/callback-body.ts'
import { isCallbackToken } from '../provider/provider-secret.ts'
import { applyProviderReport } from './apply-provider-report.ts'
import { markDueNow } from './payment-store.ts'
import { paymentIdOf } from './provider-attempts.ts'

type CallbackDeps = Pick<
  Deps,
  'table' | 'sleep' | 'random' | 'provider' | 'now' | 'newId' | 'log' | 'alerts' | 'secrets' | 'stage'
>

/** `ask_again`: the provider should send this callback once more. */
export type CallbackOutcome = 'applied' | 'ignored' | 'ask_again'

const MAX_BODY_BYTES = 262_144

/**
 * Receives a callback of the provider (design section 4). Its token is a shared secret without a signature over the
 * body, so it only tells us whom to ask about: a forged one changes nothing. When the provider cannot be asked, the
 * payment becomes due at once, since the provider's own first retry comes after 15 minutes.
 */
export const receiveCallback = async (
  deps: CallbackDeps,
  input: { readonly token: string | undefined; readonly rawBody: Buffer },
): Promise<CallbackOutcome> => {
  if (!(await isCallbackToken(deps, input.token))) {
    deps.log.warn('callback.refused')
    throw new GatewayError('auth', 'invalid callback token')
  }
  if (input.rawBody.length > MAX_BODY_BYTES) throw invalid('the body is too large')
  const callback = parseCallback(input.rawBody)
  if (callback === undefined) {
    deps.log.info('callback.ignored')
    return 'ignored'
  }
  const outcome = await applyProviderReport(deps, callback, 'callback')
  if (outcome.kind === 'applied') return 'applied'
  const paymentId = callback.reference === undefined ? undefined : paymentIdOf(callback.reference)
  if (paymentId !== undefined && outcome.kind !== 'deferred') await markDueNow(deps, paymentId, deps.now())
  deps.log.warn('callback.deferred', { payment_id: paymentId, outcome: outcome.kind })
  return outcome.kind === 'not_found' ? 'ignored' : 'ask_again'
}
