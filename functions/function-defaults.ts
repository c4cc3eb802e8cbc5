import type { FunctionSpec, Load } from './function-spec.ts'

/** The optional fields of a manifest entry: all but its place, its trigger and its table access. */
export type Access = Partial<Omit<FunctionSpec, 'name' | 'entry' | 'trigger' | 'table'>>

/**
 * Lambda gives processor time by memory: 1,769 MB are one processor. At 512 MB (0.29) a request computes for less time
 * than it waits for the table. Cold starts are not slower, because Lambda starts environments with a whole processor.
 * 10 s are several times the SDK's own limit for a table that does not answer.
 */
export const DEFAULTS = { sends: [], alerts: false, secrets: [], timeoutSeconds: 10, memoryMb: 512 } as const

/**
 * For functions that mostly wait for merchants, queues or the provider: half of the default processor time. Cold starts
 * are not slower.
 */
export const ONLY_WAITS = { memoryMb: 256 } as const

/** More than a request's own deadline of 22 s (design: create), and less than API Gateway's timeout of 29 s. */
export const CALLS_PROVIDER_SECONDS = 25

/** To apply news, a function calls the provider, and may have to alert the operators. */
export const ASKS_PROVIDER = { alerts: true, secrets: ['read-provider'] } as const

/** The sender of a delivery message chooses its lane by the endpoint, if it knows the endpoint. */
export const BOTH_LANES = ['webhooks', 'webhooks-slow'] as const

/** Seconds of deliver-webhook for one payment. */
export const webhookSeconds = ({ endpointsAPayment, attemptMs }: Omit<Load, 'callsPerMinute'>): number =>
  (endpointsAPayment * attemptMs) / 1_000

/** A third more than a steady load needs. */
const HEADROOM = 4 / 3

/**
 * One run for each attempt in progress. A batch has several messages only after a backlog: that is the reserve for
 * retries and for merchants that are slow for a while.
 */
export const webhookRuns = (load: Load): number =>
  Math.ceil((load.callsPerMinute / 60) * webhookSeconds(load) * HEADROOM)
