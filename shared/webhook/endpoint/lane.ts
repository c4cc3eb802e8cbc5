import type { Endpoint } from './endpoint.ts'

/** Which queue a delivery's messages wait in: the one of all endpoints, or that of the endpoints that hold workers. */
export type Lane = 'normal' | 'slow'

/** The lane of an endpoint as it was read. */
export const laneOf = (endpoint: Pick<Endpoint, 'slowSince'> | undefined): Lane =>
  endpoint?.slowSince === undefined ? 'normal' : 'slow'
