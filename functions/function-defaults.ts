import type { FunctionSpec, Load } from './function-spec.ts'

/** What an entry of the manifest says beyond where it is and what it may reach of the table. */
export type Access = Partial<Omit<FunctionSpec, 'name' | 'entry' | 'trigger' | 'table'>>

/**
 * Memory is bought for the processor that comes with it: 1,769 MB are a whole one, and functions wait far more than they
 * compute. At 512 MB (0.29 of one) a request's few milliseconds of work stay below what the table takes to answer, and
 * starting is not slowed, since Lambda starts environments with a whole processor. 10 s are several times what the SDK
 * takes to give up on a table that does not answer.
 */
export const DEFAULTS = { sends: [], alerts: false, secrets: [], timeoutSeconds: 10, memoryMb: 512 } as const

/**
 * For functions that only wait: for merchants, queues, or the provider. Their share of a processor is half of the
 * default. A start does not slow down: Lambda gives a starting environment a whole processor.
 */
export const ONLY_WAITS = { memoryMb: 256 } as const

/** Ends a request by its own deadline of 22 s (design: create), and is over before API Gateway gives up after 29. */
export const CALLS_PROVIDER_SECONDS = 25

/** Applying provider news asks the provider, and may have to tell the operators. */
export const ASKS_PROVIDER = { alerts: true, secrets: ['read-provider'] } as const

/** Whoever sends a delivery's message picks its lane by the endpoint, where it knows it. */
export const BOTH_LANES = ['webhooks', 'webhooks-slow'] as const

/** Seconds of deliver-webhook that one payment takes. */
export const webhookSeconds = ({ endpointsAPayment, attemptMs }: Omit<Load, 'callsPerMinute'>): number =>
  (endpointsAPayment * attemptMs) / 1_000

/** A third more than a steady load needs. */
const HEADROOM = 4 / 3

/**
 * As many runs as attempts are under way. A batch has more than one message only after messages waited: that is the
 * reserve for retries and for merchants that are slow for a while.
 */
export const webhookRuns = (load: Load): number =>
  Math.ceil((load.callsPerMinute / 60) * webhookSeconds(load) * HEADROOM)
