/** A probe checks that a function can work. Triggers cannot send it: each wraps the payload in its own event. */
const MARK = 'gateway_probe'

/** For any function: its wrapper answers `PROVEN` before any effect. */
export const PROBE = { [MARK]: 'function' }

/** Marks a request to the API that does not come through the front. */
export const ROUTE_PROBE = { [MARK]: 'route' }

export const PROVEN = { [MARK]: 'proven' }

const markOf = (event: unknown): unknown =>
  typeof event === 'object' && event !== null && MARK in event ? event[MARK] : undefined

export const isProbe = (event: unknown): boolean => markOf(event) === PROBE[MARK]

export const isRouteProbe = (event: unknown): boolean => markOf(event) === ROUTE_PROBE[MARK]

export const isProven = (answer: unknown): boolean => markOf(answer) === PROVEN[MARK]
