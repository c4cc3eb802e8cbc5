/** Flows of functions that the release before does not have; of money that goes back, and of parts, it knows nothing. */
export const NEW_FLOWS: readonly string[] = [
  'alerts of an endpoint',
  'compare',
  'grow',
  'expiry',
  'expiry, behind a cancel that failed',
  'lost callback',
  'lost event',
  'redelivery, by its merchant',
  'sync, of money that went back',
  'sync, of a dispute that was won',
  'sync, by a worker that is woken',
]
