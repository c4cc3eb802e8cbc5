import type { Endpoint } from './endpoint.ts'

/** The queue of a delivery's messages: the common one, or that of the endpoints that hold workers. */
export type Lane = 'normal' | 'slow'

/** The lane of an endpoint as it was read. */
export const laneOf = (endpoint: Pick<Endpoint, 'slowSince'> | undefined): Lane =>
  endpoint?.slowSince === undefined ? 'normal' : 'slow'
