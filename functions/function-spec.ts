import type { QueueName } from '../shared/queues.ts'
import type { CallLimits } from '../shared/runtime/aws/client-options.ts'
import type { TableAccess, UpdatedFields } from '../shared/table/access.ts'
import type { DailyTimes } from './daily-times.ts'

export type QueueSource = {
  readonly queue: QueueName
  readonly batchSize: number
  readonly maxConcurrency: number
}

/** Decides the concurrency of some queues. */
export type Load = {
  /**
   * The provider's limit for each operation. It also limits how many payments are created each
   * minute.
   */
  readonly callsPerMinute: number
  readonly endpointsAPayment: number
  /** The average duration of one webhook attempt, slow merchants included. */
  readonly attemptMs: number
}

export type Trigger =
  | { readonly kind: 'http'; readonly method: 'GET' | 'POST'; readonly path: string }
  | { readonly kind: 'http-default' }
  | ({
      readonly kind: 'queue'
      /** Its few runs cannot delay the main queue. */
      readonly slowLane?: Omit<QueueSource, 'batchSize'>
      /** The concurrency that the stage's load needs, if it is above `maxConcurrency`. */
      readonly runsAt?: (load: Load) => number
    } & QueueSource)
  | { readonly kind: 'schedule'; readonly schedule: ScheduleSpec }
  | { readonly kind: 'operator'; readonly duty: Duty }

/** Each duty is one IAM policy. An operator may have several; an action belongs to one. */
export const DUTIES = {
  look: 'reads everything and changes nothing',
  support: 'asks the provider again, sends webhooks again',
  finance: 'money out, suspense, adjustments, audit',
  approve: 'approves what another person with finance then does',
  admin: 'changes merchants, their API keys and their endpoints',
} as const
export type Duty = keyof typeof DUTIES

/**
 * The roles that deploy or are on call may start what schedules start, which is safe at any time.
 * On call a person may also run the actions of `ON_CALL`, and no other operator action.
 */
export const ROLES = ['look', 'support', 'finance', 'approve', 'admin', 'deploy', 'oncall'] as const
export type Role = (typeof ROLES)[number]

/** Actions that pages ask for. They move no money and change no merchant. */
const ON_CALL = ['audit-ledger']

export type SecretAccess = 'read-provider' | 'read-callback-tokens'

export type FunctionSpec = {
  /** The deployed name is `gateway-<stage>-<name>`. */
  readonly name: string
  readonly entry: string
  readonly trigger: Trigger
  /** Partition kinds (table/keys.ts) by action, and indexes. The role has no other access. */
  readonly table: TableAccess
  /** The attributes that its updates may name, by kind of item (updated-fields.ts). */
  readonly updates: UpdatedFields
  readonly sends: readonly QueueName[]
  readonly alerts: boolean
  readonly secrets: readonly SecretAccess[]
  /** No function may both seal and unseal the signing secrets of endpoints. */
  readonly endpointSecrets?: 'seal' | 'unseal'
  /** A function that creates payments needs the default return URL and display name. */
  readonly payerDefaults?: boolean
  readonly timeoutSeconds: number
  /** Set if shorter than the default. */
  readonly calls?: CallLimits
  readonly memoryMb: number
  /**
   * Parallel runs, in a stage that reserves concurrency: 1 if a second run would only repeat the
   * work.
   */
  readonly reservedConcurrency?: number
  /** The function sends to the queue that triggers it. Rows of the table limit the messages. */
  readonly recursive?: boolean
  /** The calls leave from the stage's fixed IP addresses if it has them. */
  readonly callsMerchants?: boolean
  /** A merchant's query for which no customer waits. */
  readonly lookup?: true
}

export function mayInvoke(role: Role, { name, trigger }: FunctionSpec): boolean {
  if (trigger.kind === 'operator')
    return trigger.duty === role || (role === 'oncall' && ON_CALL.includes(name))
  return trigger.kind === 'schedule' && (role === 'deploy' || role === 'oncall')
}

export type ScheduleSpec =
  | { readonly everyMinutes: number; readonly maxEventAgeSeconds: number }
  | { readonly dailyAt: keyof DailyTimes; readonly maxEventAgeSeconds: number }

/** A daily run is retried, because its next run is a day later; it is safe to repeat. */
export function retriesOf(schedule: ScheduleSpec): number {
  return 'dailyAt' in schedule ? 2 : 0
}

/** The main queue first. With a `load`, some queues get more runs. */
export function queuesOf(trigger: Trigger, load?: Load): readonly QueueSource[] {
  if (trigger.kind !== 'queue') return []
  const { queue, batchSize, slowLane, runsAt } = trigger
  const neededRuns = load && runsAt ? runsAt(load) : 0
  // Lambda's limit is 1,000.
  const maxConcurrency = Math.max(trigger.maxConcurrency, Math.min(neededRuns, 1_000))
  return [{ queue, batchSize, maxConcurrency }, ...(slowLane ? [{ ...slowLane, batchSize }] : [])]
}

export function functionName(stage: string, spec: Pick<FunctionSpec, 'name'>): string {
  return `gateway-${stage}-${spec.name}`
}

/** For example `POST /v1/payments`; undefined without an HTTP trigger. */
export function routeKeyOf({ trigger }: FunctionSpec): string | undefined {
  if (trigger.kind === 'http') return `${trigger.method} ${trigger.path}`
  return trigger.kind === 'http-default' ? '$default' : undefined
}

export function runsByItself({ trigger }: FunctionSpec): boolean {
  return trigger.kind !== 'operator'
}

export function isHttp(spec: FunctionSpec): boolean {
  return routeKeyOf(spec) !== undefined
}

/** Such a function requires an API key, and a request counts against the rate limit. */
export function answersClients({ name, trigger }: FunctionSpec): boolean {
  return trigger.kind === 'http' && name.startsWith('api-')
}

export type Access = Partial<Omit<FunctionSpec, 'name' | 'entry' | 'trigger' | 'table' | 'updates'>>

/**
 * Lambda assigns CPU time by memory: 1,769 MB are one CPU. With 512 MB a request computes for less
 * time than it waits for the table. A timeout of 10 s is several times the SDK's limit for a table
 * that does not answer.
 */
export const DEFAULTS = {
  updates: {},
  sends: [],
  alerts: false,
  secrets: [],
  timeoutSeconds: 10,
  memoryMb: 512,
} as const

/**
 * For functions that mostly wait for merchants, queues or the provider. Cold starts are not slower
 * with it.
 */
export const LOW_MEMORY = { memoryMb: 256 } as const

/**
 * More than a request's own deadline of 22 s (design: create), and less than API Gateway's timeout
 * of 29 s.
 */
export const CALLS_PROVIDER_SECONDS = 25

/** They call the provider, and may alert the operators. */
export const ASKS_PROVIDER = { alerts: true, secrets: ['read-provider'] } as const

/** The sender of a delivery message chooses its lane by the endpoint, if it knows the endpoint. */
export const BOTH_LANES = ['webhooks', 'webhooks-slow'] as const

export function webhookSeconds({
  endpointsAPayment,
  attemptMs,
}: Omit<Load, 'callsPerMinute'>): number {
  return (endpointsAPayment * attemptMs) / 1_000
}

/** A run for each attempt in progress, and a third more. Batches are the reserve for retries. */
export function webhookRuns(load: Load): number {
  return Math.ceil((load.callsPerMinute / 60) * webhookSeconds(load) * (4 / 3))
}
