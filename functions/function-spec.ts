import type { QueueName } from '../shared/queues.ts'
import type { CallLimits } from '../shared/runtime/aws/aws-http-options.ts'
import type { TableAccess } from '../shared/table/access.ts'

/** A queue that starts a function, with its batch size and most concurrent runs. */
export type QueueSource = { readonly queue: QueueName; readonly batchSize: number; readonly maxConcurrency: number }

/** The load that a stage must carry. The runs of some queues follow it. */
export type Load = {
  /** The provider's quota of each operation: the payments that can be created in a minute. */
  readonly callsPerMinute: number
  /** The endpoints of a payment's event, on average. */
  readonly endpointsAPayment: number
  /** Milliseconds of one webhook attempt on average, slow merchants included. */
  readonly attemptMs: number
}

/** The highest maximum that Lambda accepts for a queue. */
const MOST_RUNS = 1_000

/** What starts a function. */
export type Trigger =
  | { readonly kind: 'http'; readonly method: 'GET' | 'POST'; readonly path: string }
  /** Every path without a route. */
  | { readonly kind: 'http-default' }
  | ({
      readonly kind: 'queue'
      readonly slowLane?: Omit<QueueSource, 'batchSize'>
      /** The runs that a stage's load needs, if more. */
      readonly runsAt?: (load: Load) => number
    } & QueueSource)
  | { readonly kind: 'schedule'; readonly schedule: ScheduleSpec }
  /** Invoked by an operator with this duty. */
  | { readonly kind: 'operator'; readonly duty: Duty }

/** The duties of people, each with its own policy; a person may hold several. Every operator action belongs to one. */
export const DUTIES = {
  look: 'looks at everything and changes nothing',
  support: 'asks the provider again, sends webhooks again',
  finance: 'money out, suspense, adjustments, audit',
  admin: 'changes merchants, their API keys and their endpoints',
} as const
export type Duty = keyof typeof DUTIES

/** The deployer also starts scheduled work, and no operator action. */
export type Role = Duty | 'deploy'
export const ROLES: readonly Role[] = ['look', 'support', 'finance', 'admin', 'deploy']

export const mayInvoke = (role: Role, { trigger }: FunctionSpec): boolean =>
  trigger.kind === 'operator' ? trigger.duty === role : trigger.kind === 'schedule' && role === 'deploy'

/** A time of day in UTC, to the minute. */
export type TimeOfDay = { readonly hour: number; readonly minute: number }

/** The daily times of schedules: a setting of the stage, which the manifest names. */
export type DailyTimes = { readonly sweepAtUtc: TimeOfDay; readonly auditAtUtc: TimeOfDay }

/** The defaults, also of the local gateway. The sweep's time is spec 3.2, rule 1. */
export const DAILY_TIMES: DailyTimes = {
  sweepAtUtc: { hour: 2, minute: 0 },
  auditAtUtc: { hour: 4, minute: 0 },
}

export type ScheduleSpec =
  | { readonly everyMinutes: number; readonly maxEventAgeSeconds: number }
  /** Daily, at the stage's time of this name. */
  | { readonly dailyAt: keyof DailyTimes; readonly maxEventAgeSeconds: number }

export type SecretAccess =
  /** Reads our API key of the provider. */
  | 'read-provider'
  /** Reads the provider's callback tokens. */
  | 'read-callback-tokens'

export type FunctionSpec = {
  /** The deployed name is `gateway-<stage>-<name>`. */
  readonly name: string
  /** Path from the project's root. */
  readonly entry: string
  readonly trigger: Trigger
  /** By action and kind of partition (table/keys.ts), and by index: the role can reach no other item of the table. */
  readonly table: TableAccess
  readonly sends: readonly QueueName[]
  readonly alerts: boolean
  readonly secrets: readonly SecretAccess[]
  /** What it may do with the signing secrets of endpoints: seal or unseal, never both. */
  readonly endpointSecrets?: 'seal' | 'unseal'
  /** Creates payments: it gets the stage's default return URL and display name. */
  readonly payerDefaults?: boolean
  readonly timeoutSeconds: number
  /** How long it waits for the table and the queues, if less than the default. */
  readonly calls?: CallLimits
  readonly memoryMb: number
  /**
   * Concurrent runs, if a stage reserves any: one when a second run would only repeat its calls, or a queue's workers.
   */
  readonly reservedConcurrency?: number
  /** It sends to its own queue, by design, and bounded by the table's rows. */
  readonly recursive?: boolean
  /** It calls addresses that merchants choose, from the stage's fixed addresses if there are any. */
  readonly callsMerchants?: boolean
  /** A lookup of merchants besides payments, balance and settlements; no payment waits for it. */
  readonly lookup?: true
}

/**
 * Every queue that starts a function, its own first. The slow lane is a second queue of the same messages, whose few
 * runs are all that slow work can hold. Some have more runs if the stage's load needs them.
 */
export const queuesOf = (trigger: Trigger, load?: Load): readonly QueueSource[] => {
  if (trigger.kind !== 'queue') return []
  const { queue, batchSize, slowLane, runsAt } = trigger
  const needed = load && runsAt ? runsAt(load) : 0
  const maxConcurrency = Math.max(trigger.maxConcurrency, Math.min(needed, MOST_RUNS))
  return [{ queue, batchSize, maxConcurrency }, ...(slowLane ? [{ ...slowLane, batchSize }] : [])]
}

/** The deployed name of a function in a stage. */
export const functionName = (stage: string, spec: FunctionSpec): string => `gateway-${stage}-${spec.name}`

/** The route of API Gateway that a function answers, such as `POST /v1/payments`; undefined when HTTP does not start it. */
export const routeKeyOf = ({ trigger }: FunctionSpec): string | undefined => {
  if (trigger.kind === 'http') return `${trigger.method} ${trigger.path}`
  return trigger.kind === 'http-default' ? '$default' : undefined
}

/** Whether it also runs without a person's request. */
export const runsByItself = ({ trigger }: FunctionSpec): boolean => trigger.kind !== 'operator'

/** Whether requests from outside start it. */
export const isHttp = (spec: FunctionSpec): boolean => routeKeyOf(spec) !== undefined

/** Whether clients' requests start it: it answers nothing without a key, and each request counts in a rate limit. */
export const answersClients = ({ name, trigger }: FunctionSpec): boolean =>
  trigger.kind === 'http' && name.startsWith('api-')
