import type { FunctionSpec, Load } from './function-spec.ts'

/** Defaults of a manifest entry. */
export type Access = Partial<Omit<FunctionSpec, 'name' | 'entry' | 'trigger' | 'table'>>

/**
 * Memory buys processor time: 1,769 MB are a whole processor, and functions wait far more than they compute. At 512 MB
 * (0.29 of one) a request's few milliseconds of work stay below the table's answer time. Starts are not slower, because
 * Lambda starts environments with a whole processor. 10 s are several times what the SDK takes to give up on a table
 * that does not answer.
 */
export const DEFAULTS = { sends: [], alerts: false, secrets: [], timeoutSeconds: 10, memoryMb: 512 } as const

/**
 * For functions that mostly wait: for merchants, queues, or the provider. They get half of the default processor share.
 * Starts are not slower, because Lambda gives a starting environment a whole processor.
 */
export const ONLY_WAITS = { memoryMb: 256 } as const

/** The function ends a request at its own deadline of 22 s (design: create), before API Gateway gives up after 29 s. */
export const CALLS_PROVIDER_SECONDS = 25

/** Applying provider news asks the provider and may alert operators. */
export const ASKS_PROVIDER = { alerts: true, secrets: ['read-provider'] } as const

/** A sender of delivery messages chooses the lane by the endpoint, if it knows the endpoint. */
export const BOTH_LANES = ['webhooks', 'webhooks-slow'] as const

/** Seconds of deliver-webhook that one payment takes. */
export const webhookSeconds = ({ endpointsAPayment, attemptMs }: Omit<Load, 'callsPerMinute'>): number =>
  (endpointsAPayment * attemptMs) / 1_000

/** A third more than a steady load needs. */
const HEADROOM = 4 / 3

/**
 * As many runs as attempts in progress. A batch has more than one message only after messages have waited: the reserve
 * for retries and slow merchants.
 */
export const webhookRuns = (load: Load): number =>
  Math.ceil((load.callsPerMinute / 60) * webhookSeconds(load) * HEADROOM)
