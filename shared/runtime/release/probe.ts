import type { Context } from 'aws-lambda'
import { GatewayError } from '../../errors.ts'

/**
 * A probe checks that a function can work. No trigger can send a probe, because it wraps the
 * payload in its own event.
 */
const MARK = 'gateway_probe'

/** For any function: the function's wrapper answers `PROVEN` before any effect. */
export const PROBE = { [MARK]: 'function' }

/** Marks a request to the API that does not come through the front. */
export const ROUTE_PROBE = { [MARK]: 'route' }

export const PROVEN = { [MARK]: 'proven' }

export function isProbe(event: unknown): boolean {
  return markOf(event) === PROBE[MARK]
}

function markOf(event: unknown): unknown {
  return typeof event === 'object' && event !== null && MARK in event ? event[MARK] : undefined
}

export function isRouteProbe(event: unknown): boolean {
  return markOf(event) === ROUTE_PROBE[MARK]
}

export function isProven(answer: unknown): boolean {
  return markOf(answer) === PROVEN[MARK]
}

/**
 * Whether the caller named a version. Only the prover does: requests, queues and schedules invoke
 * the alias or the function, and operators invoke the function.
 */
export function namesVersion({ invokedFunctionArn }: Pick<Context, 'invokedFunctionArn'>): boolean {
  return /:(\d+|\$LATEST)$/.test(invokedFunctionArn)
}

/** A probe never gets further, also if its sender holds a valid key. */
export function endProbe(event: unknown): void {
  if (isRouteProbe(event)) throw new GatewayError('auth', 'a probe ends here')
}
