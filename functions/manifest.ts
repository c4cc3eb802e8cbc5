import { allAccess, type TableAccess } from '../shared/table/access.ts'
import { EVENT_SK_PREFIX } from '../shared/table/keys.ts'
import { dueFunctions } from './due-functions.ts'
import type { FunctionSpec } from './function-spec.ts'
import {
  AUDITING,
  AUTHENTICATION,
  BALANCE,
  changed,
  DELIVERY_LISTS,
  FUNDING,
  listed,
  NEWS,
  PAUSES,
  PAYMENT_LISTS,
  REDELIVERING,
  SETTLING,
  SYNCING,
  TIMELINE,
} from './table-access.ts'

type Access = Partial<Omit<FunctionSpec, 'name' | 'entry' | 'trigger' | 'table'>>

/**
 * Memory is bought for the processor that comes with it: 1,769 MB are a whole one, and functions wait far more than they
 * compute. At 512 MB (0.29 of one) a request's few milliseconds of work stay below what the table takes to answer, and
 * starting is not slowed, since Lambda starts environments with a whole processor. 10 s are several times what the SDK
 * takes to give up on a table that does not answer.
 */
const defaults = { sends: [], alerts: false, secrets: [], timeoutSeconds: 10, memoryMb: 512 } as const

/** Ends a request by its own deadline of 22 s (design: create), and is over before API Gateway gives up after 29. */
const CALLS_PROVIDER_SECONDS = 25

/** Applying provider news asks the provider, and may have to tell the operators. */
const news = { alerts: true, secrets: ['read-provider'] } as const

const api = (
  file: string,
  method: 'GET' | 'POST',
  path: string,
  table: TableAccess,
  access: Access = {},
): FunctionSpec => ({
  ...defaults,
  name: `api-${file}`,
  entry: `functions/api/${file}.ts`,
  trigger: { kind: 'http', method, path },
  table: allAccess(AUTHENTICATION, table),
  ...access,
})

const admin = (file: string, table: TableAccess, access: Access = {}): FunctionSpec => ({
  ...defaults,
  name: file,
  entry: `functions/admin/${file}.ts`,
  trigger: { kind: 'operator' },
  table,
  // An operator waits for it. Longer ones read a client's books, as settling does.
  timeoutSeconds: 60,
  ...access,
})

/**
 * Every function, what starts it and what it may touch. The CDK stack and the local gateway are two targets of this
 * list; neither has a second one.
 */
export const MANIFEST: readonly FunctionSpec[] = [
  api('create-payment', 'POST', '/v1/payments', allAccess(NEWS, { UpdateItem: ['QUOTA'] }), {
    ...news,
    payerDefaults: true,
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  api('list-payments', 'GET', '/v1/payments', PAYMENT_LISTS),
  api('get-payment', 'GET', '/v1/payments/{id}', { GetItem: ['PAYMENT'] }),
  api('cancel-payment', 'POST', '/v1/payments/{id}/cancel', NEWS, {
    ...news,
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  api('get-balance', 'GET', '/v1/balance', BALANCE),
  api('list-settlements', 'GET', '/v1/settlements', listed('SETTLEMENT', 'by-owner')),
  api('get-settlement', 'GET', '/v1/settlements/{id}', { GetItem: ['SETTLEMENT'] }),
  {
    ...defaults,
    name: 'api-not-found',
    entry: 'functions/api/not-found.ts',
    trigger: { kind: 'http-default' },
    table: {},
    // It reads nothing; less would only make it start slower.
    memoryMb: 256,
  },
  {
    ...defaults,
    ...news,
    name: 'receive-provider-callback',
    entry: 'functions/callback/receive-provider-callback.ts',
    trigger: { kind: 'http', method: 'POST', path: '/callbacks/xendit' },
    table: allAccess(NEWS, PAUSES),
    sends: ['sync'],
    secrets: [...news.secrets, 'read-callback-tokens'],
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  },
  {
    ...defaults,
    name: 'fan-out-events',
    entry: 'functions/stream/fan-out-events.ts',
    trigger: { kind: 'stream', insertedSkPrefix: EVENT_SK_PREFIX, batchSize: 25 },
    table: { Query: ['ENDPOINTS'], PutItem: ['DELIVERY'], UpdateItem: ['PAYMENT'] },
    sends: ['webhooks'],
    // A batch of 25 events for a client's few endpoints takes one; the rest is for a table that throttles.
    timeoutSeconds: 60,
  },
  {
    ...defaults,
    name: 'deliver-webhook',
    entry: 'functions/queue/deliver-webhook.ts',
    trigger: { kind: 'queue', queue: 'webhooks', batchSize: 10, maxConcurrency: 100 },
    // It talks to strangers: no bank detail, no payment, no API key, no ledger may be within its reach. Of what lies
    // beside a payment it sees what it sends: the bodies of events.
    table: {
      GetItem: ['DELIVERY', 'ENDPOINTS'],
      GetFields: ['PAYMENT'],
      BatchGetItem: ['DELIVERY', 'ENDPOINTS'],
      PutItem: ['DELIVERY'],
      UpdateItem: ['DELIVERY'],
    },
    sends: ['webhooks'],
    alerts: true,
    secrets: ['read-endpoints'],
    // Deliveries of a batch run side by side, each with 10 s for the merchant and a few for name, table and queue.
    timeoutSeconds: 25,
    recursive: true,
    callsMerchants: true,
  },
  {
    ...defaults,
    name: 'check-due-work',
    entry: 'functions/schedule/check-due-work.ts',
    // A tick may wait for the run before it, which is over within a minute: what is set aside was really missed.
    trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 180 } },
    table: { indexes: ['by-due'] },
    sends: ['due-alerts', 'due-deliveries', 'due-events', 'due-payments'],
    // It looks at nothing itself: a page of each slot, and a message where there is something.
    timeoutSeconds: 60,
    reservedConcurrency: 1,
  },
  ...dueFunctions(defaults),
  {
    ...defaults,
    name: 'sweep-settlements',
    entry: 'functions/schedule/sweep-settlements.ts',
    trigger: { kind: 'schedule', schedule: { dailyAt: 'sweepAtUtc', maxEventAgeSeconds: 3_600 } },
    table: { indexes: ['by-owner'] },
    sends: ['settlements'],
    // A page of clients and a message for each, one after the other: time for many thousand clients.
    timeoutSeconds: 300,
  },
  {
    ...defaults,
    ...news,
    name: 'settle-client',
    entry: 'functions/queue/settle-client.ts',
    // One client a message: a large one must not use up the time of those behind it.
    trigger: { kind: 'queue', queue: 'settlements', batchSize: 1, maxConcurrency: 10 },
    table: SETTLING,
    sends: ['settlements'],
    timeoutSeconds: 300,
    recursive: true,
  },
  {
    ...defaults,
    name: 'audit-clients',
    entry: 'functions/schedule/audit-clients.ts',
    trigger: { kind: 'schedule', schedule: { dailyAt: 'auditAtUtc', maxEventAgeSeconds: 3_600 } },
    table: { indexes: ['by-owner'] },
    sends: ['audits'],
    timeoutSeconds: 300,
  },
  {
    ...defaults,
    name: 'audit-client',
    entry: 'functions/queue/audit-client.ts',
    trigger: { kind: 'queue', queue: 'audits', batchSize: 1, maxConcurrency: 5 },
    table: allAccess(AUDITING, { PutItem: ['LEDGER'] }),
    sends: ['audits'],
    alerts: true,
    timeoutSeconds: 300,
    recursive: true,
  },
  {
    ...defaults,
    ...news,
    name: 'sync-provider-transactions',
    entry: 'functions/schedule/sync-provider-transactions.ts',
    trigger: { kind: 'schedule', schedule: { everyMinutes: 5, maxEventAgeSeconds: 600 } },
    table: SYNCING,
    sends: ['sync'],
    // A run begins no page after four minutes, and whoever comes next goes on where it ended.
    timeoutSeconds: 300,
  },
  {
    ...defaults,
    ...news,
    name: 'sync-slices',
    entry: 'functions/queue/sync-slices.ts',
    // Workers beside the schedule's own; the provider's quota bounds them all together.
    trigger: { kind: 'queue', queue: 'sync', batchSize: 1, maxConcurrency: 10 },
    table: SYNCING,
    timeoutSeconds: 300,
  },
  {
    ...defaults,
    name: 'split-provider-secret',
    entry: 'functions/deployment/split-provider-secret.ts',
    trigger: { kind: 'deployment' },
    table: {},
    secrets: ['read-provider', 'write-callback-tokens'],
    timeoutSeconds: 60,
  },
  admin('create-client', { PutItem: ['AUDIT', 'CLIENT', 'LEDGER'] }),
  admin('update-client', changed('CLIENT')),
  admin('get-client', { GetItem: ['CLIENT'] }),
  admin('list-clients', listed('CLIENT', 'by-owner')),
  admin('issue-api-key', { PutItem: ['APIKEY', 'AUDIT'], ConditionCheckItem: ['CLIENT'] }),
  admin('revoke-api-key', changed('APIKEY')),
  admin('list-api-keys', allAccess({ GetItem: ['CLIENT'] }, listed('APIKEY', 'by-owner'))),
  admin(
    'register-endpoint',
    { GetItem: ['CLIENT'], Query: ['ENDPOINTS'], PutItem: ['AUDIT', 'ENDPOINTS'] },
    { secrets: ['create-endpoints'] },
  ),
  admin('update-endpoint', changed('ENDPOINTS')),
  admin('delete-endpoint', changed('ENDPOINTS'), { secrets: ['delete-endpoints'] }),
  admin('list-endpoints', { GetItem: ['CLIENT'], Query: ['ENDPOINTS'] }),
  admin('send-test-event', { GetItem: ['ENDPOINTS'], PutItem: ['AUDIT', 'DELIVERY'] }, { sends: ['webhooks'] }),
  admin('get-payment', TIMELINE),
  admin('find-payments', allAccess({ Query: ['DESTINATION'] }, listed('PAYMENT', 'by-owner'))),
  admin('refresh-payment', allAccess(NEWS, TIMELINE, { PutItem: ['AUDIT'] }), { ...news }),
  admin('list-deliveries', DELIVERY_LISTS),
  admin('redeliver', REDELIVERING, { sends: ['webhooks'], alerts: true }),
  admin('trigger-settlement', SETTLING, { ...news, sends: ['settlements'], timeoutSeconds: 300 }),
  admin('list-settlements', allAccess({ GetItem: ['CLIENT'] }, listed('SETTLEMENT', 'by-owner', 'by-due'))),
  admin('mark-settlement-paid', allAccess(changed('SETTLEMENT'), { UpdateItem: ['LEDGER'] }, FUNDING)),
  admin('mark-settlement-failed', changed('SETTLEMENT')),
  admin('recredit-settlement', allAccess(changed('SETTLEMENT'), { UpdateItem: ['LEDGER'] })),
  admin('get-settlement-statement', allAccess({ GetItem: ['SETTLEMENT'] }, FUNDING)),
  admin('audit-ledger', AUDITING, { timeoutSeconds: 300 }),
  admin('list-suspense', listed('SUSPENSE', 'by-owner', 'by-status')),
  admin('resolve-suspense', changed('SUSPENSE')),
]
