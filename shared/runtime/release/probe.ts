/**
 * A probe asks a function whether it can work, before requests reach it. The release and the doctor send it. No trigger
 * can: API Gateway, SQS and EventBridge put what they pass on into events of their own.
 */
const MARK = 'gateway_probe'

/** Of any function: its wrapper answers `PROVEN`, before any effect. */
export const PROBE = { [MARK]: 'function' }

/** On a request to the API, which comes without a front. */
export const ROUTE_PROBE = { [MARK]: 'route' }

export const PROVEN = { [MARK]: 'proven' }

const markOf = (event: unknown): unknown =>
  typeof event === 'object' && event !== null && MARK in event ? event[MARK] : undefined

export const isProbe = (event: unknown): boolean => markOf(event) === PROBE[MARK]

export const isRouteProbe = (event: unknown): boolean => markOf(event) === ROUTE_PROBE[MARK]

export const isProven = (answer: unknown): boolean => markOf(answer) === PROVEN[MARK]
