import type { MiddlewareObj } from '@middy/core'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { isRouteProbe } from './release/probe.ts'

/**
 * A closed stage answers every request with 500 and reads nothing. A probe passes, so that a closed release can be
 * proven (design section 13).
 */
export const closedGuard = (deps: Pick<Deps, 'stage'>): MiddlewareObj => ({
  before: ({ event }) => {
    if (deps.stage.isClosed !== true || isRouteProbe(event)) return
    throw new GatewayError('internal_error', 'the gateway is closed for maintenance', {
      actionHint: 'Send the same request again later, with the same Idempotency-Key.',
    })
  },
})
