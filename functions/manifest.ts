import type { QueueName } from '../shared/queues.ts'
import { EVENT_SK_PREFIX } from '../shared/table/keys.ts'

/**
 * Every function, what starts it and what it may touch. The CDK stack and the local gateway are two targets of this
 * list; neither has a second one.
 */
export type Trigger =
  | { readonly kind: 'http'; readonly method: 'GET' | 'POST'; readonly path: string }
  /** Whatever no route matches. */
  | { readonly kind: 'http-default' }
  | { readonly kind: 'queue'; readonly queue: QueueName; readonly batchSize: number; readonly maxConcurrency: number }
  /** Inserts of items whose sort key starts with the prefix. */
  | { readonly kind: 'stream'; readonly insertedSkPrefix: string; readonly batchSize: number }
  | { readonly kind: 'schedule'; readonly schedule: ScheduleSpec }
  /** Invoked by an operator. */
  | { readonly kind: 'operator' }

export type ScheduleSpec =
  | { readonly everyMinutes: number; readonly maxEventAgeSeconds: number }
  | { readonly dailyAtUtc: { readonly hour: number; readonly minute: number }; readonly maxEventAgeSeconds: number }

export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'Query'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  /** A step of a transaction that writes nothing. */
  | 'ConditionCheckItem'

export type SecretAccess =
  /** Reads the provider's key and callback tokens. */
  | 'read-provider'
  /** Reads endpoints' signing secrets. */
  | 'read-endpoints'
  /** Creates and deletes endpoints' signing secrets. */
  | 'manage-endpoints'

export type FunctionSpec = {
  /** The deployed name is `gateway-<stage>-<name>`. */
  readonly name: string
  /** Path from the project's root. */
  readonly entry: string
  readonly trigger: Trigger
  readonly table: readonly TableAction[]
  readonly sends: readonly QueueName[]
  readonly alerts: boolean
  readonly secrets: readonly SecretAccess[]
  /** Starts payments: is told the stage's default return URL and display name. */
  readonly payerDefaults?: boolean
  readonly timeoutSeconds: number
  readonly memoryMb: number
  /** One at a time: a second run would only repeat the first one's questions. */
  readonly reservedConcurrency?: number
  /** Sends to the queue that triggers it, by design and bounded by the table's rows. */
  readonly recursive?: boolean
}

type Access = Partial<Omit<FunctionSpec, 'name' | 'entry' | 'trigger' | 'table'>>

const defaults = { sends: [], alerts: false, secrets: [], timeoutSeconds: 10, memoryMb: 512 } as const

const LIST: readonly TableAction[] = ['BatchGetItem', 'Query']
const READ: readonly TableAction[] = ['GetItem', ...LIST]
const ALL: readonly TableAction[] = [...READ, 'PutItem', 'UpdateItem']

/** What applying provider news may touch: money, suspense and its alert. */
const news = { alerts: true, secrets: ['read-provider'] } as const

const api = (
  file: string,
  method: 'GET' | 'POST',
  path: string,
  table: readonly TableAction[],
  access: Access = {},
): FunctionSpec => ({
  ...defaults,
  name: `api-${file}`,
  entry: `functions/api/${file}.ts`,
  trigger: { kind: 'http', method, path },
  // Authentication reads key and client in one batch; a client's rate limit is an update.
  table: [...new Set<TableAction>(['BatchGetItem', 'UpdateItem', ...table])],
  ...access,
})

const admin = (file: string, table: readonly TableAction[], access: Access = {}): FunctionSpec => ({
  ...defaults,
  name: file,
  entry: `functions/admin/${file}.ts`,
  trigger: { kind: 'operator' },
  table,
  timeoutSeconds: 60,
  ...access,
})

export const MANIFEST: readonly FunctionSpec[] = [
  api('create-payment', 'POST', '/v1/payments', ['GetItem', 'PutItem', 'UpdateItem'], {
    ...news,
    payerDefaults: true,
    timeoutSeconds: 25,
  }),
  api('list-payments', 'GET', '/v1/payments', LIST),
  api('get-payment', 'GET', '/v1/payments/{id}', ['GetItem']),
  api('cancel-payment', 'POST', '/v1/payments/{id}/cancel', ['GetItem', 'PutItem', 'UpdateItem'], {
    ...news,
    timeoutSeconds: 25,
  }),
  api('get-balance', 'GET', '/v1/balance', ['Query']),
  api('list-settlements', 'GET', '/v1/settlements', LIST),
  api('get-settlement', 'GET', '/v1/settlements/{id}', ['GetItem']),
  {
    ...defaults,
    name: 'api-not-found',
    entry: 'functions/api/not-found.ts',
    trigger: { kind: 'http-default' },
    table: [],
    memoryMb: 256,
  },
  {
    ...defaults,
    ...news,
    name: 'receive-provider-callback',
    entry: 'functions/callback/receive-provider-callback.ts',
    trigger: { kind: 'http', method: 'POST', path: '/callbacks/xendit' },
    table: ['GetItem', 'PutItem', 'UpdateItem'],
    timeoutSeconds: 25,
  },
  {
    ...defaults,
    name: 'fan-out-events',
    entry: 'functions/stream/fan-out-events.ts',
    trigger: { kind: 'stream', insertedSkPrefix: EVENT_SK_PREFIX, batchSize: 25 },
    table: ['Query', 'PutItem', 'UpdateItem'],
    sends: ['webhooks'],
    timeoutSeconds: 60,
  },
  {
    ...defaults,
    name: 'deliver-webhook',
    entry: 'functions/queue/deliver-webhook.ts',
    trigger: { kind: 'queue', queue: 'webhooks', batchSize: 10, maxConcurrency: 100 },
    table: ['GetItem', 'PutItem', 'UpdateItem'],
    sends: ['webhooks'],
    alerts: true,
    secrets: ['read-endpoints'],
    timeoutSeconds: 25,
    recursive: true,
  },
  {
    ...defaults,
    ...news,
    name: 'check-due-work',
    entry: 'functions/schedule/check-due-work.ts',
    trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 60 } },
    table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'],
    sends: ['webhooks'],
    timeoutSeconds: 120,
    reservedConcurrency: 1,
  },
  {
    ...defaults,
    name: 'sweep-settlements',
    entry: 'functions/schedule/sweep-settlements.ts',
    trigger: { kind: 'schedule', schedule: { dailyAtUtc: { hour: 2, minute: 0 }, maxEventAgeSeconds: 3_600 } },
    table: ['Query'],
    sends: ['settlements'],
    timeoutSeconds: 300,
  },
  {
    ...defaults,
    ...news,
    name: 'settle-client',
    entry: 'functions/queue/settle-client.ts',
    // One client a message: a large one must not use up the time of those behind it.
    trigger: { kind: 'queue', queue: 'settlements', batchSize: 1, maxConcurrency: 10 },
    table: ['GetItem', 'Query', 'PutItem', 'UpdateItem'],
    timeoutSeconds: 600,
  },
  {
    ...defaults,
    ...news,
    name: 'sync-provider-transactions',
    entry: 'functions/schedule/sync-provider-transactions.ts',
    trigger: { kind: 'schedule', schedule: { everyMinutes: 60, maxEventAgeSeconds: 3_600 } },
    table: ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'],
    timeoutSeconds: 660,
  },
  admin('create-client', ['PutItem']),
  admin('update-client', ['GetItem', 'PutItem', 'UpdateItem']),
  admin('get-client', ['GetItem']),
  admin('list-clients', LIST),
  admin('issue-api-key', ['PutItem', 'ConditionCheckItem']),
  admin('revoke-api-key', ['GetItem', 'PutItem', 'UpdateItem']),
  admin('list-api-keys', READ),
  admin('register-endpoint', ['GetItem', 'Query', 'PutItem'], { secrets: ['manage-endpoints'] }),
  admin('update-endpoint', ['GetItem', 'PutItem', 'UpdateItem']),
  admin('delete-endpoint', ['GetItem', 'PutItem', 'UpdateItem'], { secrets: ['manage-endpoints'] }),
  admin('list-endpoints', ['GetItem', 'Query']),
  admin('send-test-event', ['GetItem', 'PutItem'], { sends: ['webhooks'] }),
  admin('get-payment', READ),
  admin('find-payments', LIST),
  admin('refresh-payment', ALL, { ...news }),
  admin('list-deliveries', READ),
  admin('redeliver', ALL, { sends: ['webhooks'], alerts: true }),
  admin('trigger-settlement', ['GetItem', 'Query', 'PutItem', 'UpdateItem'], { ...news, timeoutSeconds: 600 }),
  admin('list-settlements', READ),
  admin('mark-settlement-paid', ['GetItem', 'Query', 'PutItem', 'UpdateItem'], { timeoutSeconds: 300 }),
  admin('mark-settlement-failed', ['GetItem', 'PutItem', 'UpdateItem']),
  admin('recredit-settlement', ['GetItem', 'PutItem', 'UpdateItem']),
  admin('get-settlement-statement', ['GetItem', 'Query'], { timeoutSeconds: 300 }),
  admin('audit-ledger', READ, { timeoutSeconds: 900 }),
  admin('list-suspense', LIST),
  admin('resolve-suspense', ['GetItem', 'PutItem', 'UpdateItem']),
]

/** The deployed name of a function in a stage. */
export const functionName = (stage: string, spec: FunctionSpec): string => `gateway-${stage}-${spec.name}`
