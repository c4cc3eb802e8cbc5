import type { Context } from 'aws-lambda'
import { GatewayError } from '../../errors.ts'

/** Only a probe has this member: every trigger wraps its payload in its own event. */
const MARK = 'gateway_probe'

/** The wrapper of any function answers `PROVEN` before any effect. */
export const PROBE = { [MARK]: 'function' }

/** The API gets such a request without the front. */
export const ROUTE_PROBE = { [MARK]: 'route' }

export const PROVEN = { [MARK]: 'proven' }

export function isProbe(event: unknown) {
  return markOf(event) === PROBE[MARK]
}

function markOf(event: unknown) {
  return typeof event === 'object' && event !== null && MARK in event ? event[MARK] : undefined
}

export function isRouteProbe(event: unknown) {
  return markOf(event) === ROUTE_PROBE[MARK]
}

export function isProven(answer: unknown) {
  return markOf(answer) === PROVEN[MARK]
}

/**
 * Only the prover names a version: requests, queues and schedules invoke the alias or the function,
 * and operators invoke the function.
 */
export function namesVersion({ invokedFunctionArn }: Pick<Context, 'invokedFunctionArn'>) {
  return /:(\d+|\$LATEST)$/.test(invokedFunctionArn)
}

/** A probe never gets further, also if its sender holds a valid key. */
export function endProbe(event: unknown) {
  if (isRouteProbe(event)) throw new GatewayError('auth', 'a probe ends here')
}
