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
