import type { QueueName } from '../shared/queues.ts'
import type { CallLimits } from '../shared/runtime/aws/aws-http-options.ts'
import type { TableAccess } from '../shared/table/access.ts'

/** A queue whose messages a function is given, so many in a batch, in so many runs at a time at most. */
export type QueueSource = { readonly queue: QueueName; readonly batchSize: number; readonly maxConcurrency: number }

/** What a stage must carry. The runs of some queues follow it. */
export type Load = {
  /** What the provider allows for each operation: so many payments can be created in a minute. */
  readonly callsPerMinute: number
  /** Endpoints that a payment's event goes to, on average. */
  readonly endpointsAPayment: number
  /** Milliseconds of one webhook attempt on average, slow merchants included. */
  readonly attemptMs: number
}

/** The highest maximum that Lambda takes for a queue. */
const MOST_RUNS = 1_000

/** What starts a function. */
export type Trigger =
  | { readonly kind: 'http'; readonly method: 'GET' | 'POST'; readonly path: string }
  /** Whatever no route matches. */
  | { readonly kind: 'http-default' }
  | ({
      readonly kind: 'queue'
      readonly slowLane?: Omit<QueueSource, 'batchSize'>
      /** Runs that a stage's load needs, where those are more. */
      readonly runsAt?: (load: Load) => number
    } & QueueSource)
  | { readonly kind: 'schedule'; readonly schedule: ScheduleSpec }
  /** Invoked by an operator, as whose duty it is. */
  | { readonly kind: 'operator'; readonly duty: Duty }

/** What people do, each with a policy of its own, of which one may hold several. Every action of theirs is of one. */
export const DUTIES = {
  look: 'looks at everything and changes nothing',
  support: 'asks the provider again, sends webhooks again',
  finance: 'money out, suspense, adjustments, audit',
  admin: 'changes merchants, their API keys and their endpoints',
} as const
export type Duty = keyof typeof DUTIES

/** Whoever deploys also starts what a schedule starts, and no action of an operator. */
export type Role = Duty | 'deploy'
export const ROLES: readonly Role[] = ['look', 'support', 'finance', 'admin', 'deploy']

export const mayInvoke = (role: Role, { trigger }: FunctionSpec): boolean =>
  trigger.kind === 'operator' ? trigger.duty === role : trigger.kind === 'schedule' && role === 'deploy'

/** A time of day in UTC, to the minute. */
export type TimeOfDay = { readonly hour: number; readonly minute: number }

/** The times of day at which schedules run: a setting of the stage, which the manifest calls by its name. */
export type DailyTimes = { readonly sweepAtUtc: TimeOfDay; readonly auditAtUtc: TimeOfDay }

/** What they are unless a stage says otherwise; the local gateway's too. The sweep's is spec 3.2, rule 1. */
export const DAILY_TIMES: DailyTimes = {
  sweepAtUtc: { hour: 2, minute: 0 },
  auditAtUtc: { hour: 4, minute: 0 },
}

export type ScheduleSpec =
  | { readonly everyMinutes: number; readonly maxEventAgeSeconds: number }
  /** Once a day, at the time the stage has set under this name. */
  | { readonly dailyAt: keyof DailyTimes; readonly maxEventAgeSeconds: number }

export type SecretAccess =
  /** Reads what we show the provider, its API key. */
  | 'read-provider'
  /** Reads what the provider shows us, its callback tokens. */
  | 'read-callback-tokens'

export type FunctionSpec = {
  /** The deployed name is `gateway-<stage>-<name>`. */
  readonly name: string
  /** Path from the project's root. */
  readonly entry: string
  readonly trigger: Trigger
  /** By action and kind of partition (table/keys.ts), and by index: the role can reach nothing else of the table. */
  readonly table: TableAccess
  readonly sends: readonly QueueName[]
  readonly alerts: boolean
  readonly secrets: readonly SecretAccess[]
  /** What it may do with the signing secrets of endpoints: one of the two, never both. */
  readonly endpointSecrets?: 'seal' | 'unseal'
  /** Starts payments: is told the stage's default return URL and display name. */
  readonly payerDefaults?: boolean
  readonly timeoutSeconds: number
  /** How long it waits for the table and the queues, where that is less than the default. */
  readonly calls?: CallLimits
  readonly memoryMb: number
  /** Runs at a time, where a stage reserves any: one where a second would only repeat its questions, or a queue's workers. */
  readonly reservedConcurrency?: number
  /** Sends to the queue that triggers it, by design and bounded by the table's rows. */
  readonly recursive?: boolean
  /** Calls addresses that merchants choose: leaves from the stage's fixed addresses, where it has them. */
  readonly callsMerchants?: boolean
  /** What merchants look up beside payments, balance and settlements: nobody waits for a payment there. */
  readonly lookup?: true
}

/**
 * Every queue that starts a function, its own first. Behind it the slow lane: a second queue of the same messages, whose
 * few runs are all that work which takes long can hold. Some have more runs where the stage's load needs them.
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

/** Whether it runs by itself, day by day: not only when a person asks. */
export const runsByItself = ({ trigger }: FunctionSpec): boolean => trigger.kind !== 'operator'

/** Whether requests from outside start it. */
export const isHttp = (spec: FunctionSpec): boolean => routeKeyOf(spec) !== undefined

/** Whether clients' requests start it: it answers nothing without a key, and each request counts in a rate limit. */
export const answersClients = ({ name, trigger }: FunctionSpec): boolean =>
  trigger.kind === 'http' && name.startsWith('api-')
