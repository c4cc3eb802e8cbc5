import { maxWorkers } from '../shared/due-work/due-slot.ts'
import { workersForQuota } from '../shared/provider/quota-store.ts'
import { allAccess } from '../shared/table/access.ts'
import { UPSTREAM } from '../shared/table/upstream.ts'
import {
  type Access,
  ASKS_PROVIDER,
  BOTH_LANES,
  CALLS_PROVIDER_SECONDS,
  DEFAULTS,
  type FunctionSpec,
  LOW_MEMORY,
  webhookRuns,
} from './function-spec.ts'
import {
  ALL_CLIENTS,
  AUDITING,
  DUE_ALERTS,
  DUE_DELIVERIES,
  DUE_PAYMENTS,
  JOURNAL_READ,
  listOf,
  NEWS,
  PAUSES,
  SETTLING,
  SYNCING,
} from './table-access.ts'

export const BACKGROUND_FUNCTIONS: readonly FunctionSpec[] = [
  task('callback/receive-provider-callback', {
    ...LOW_MEMORY,
    ...ASKS_PROVIDER,
    trigger: { kind: 'http', method: 'POST', path: `/callbacks/${UPSTREAM}` },
    table: allAccess(NEWS, PAUSES),
    sends: [...BOTH_LANES, 'sync'],
    secrets: [...ASKS_PROVIDER.secrets, 'read-callback-tokens'],
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  }),
  task('queue/deliver-webhook', {
    ...LOW_MEMORY,
    trigger: {
      kind: 'queue',
      queue: 'webhooks',
      batchSize: 10,
      maxConcurrency: 100,
      runsAt: webhookRuns,
      // 50 attempts can hang at the same time; about five end each second. They delay only other
      // slow endpoints.
      slowLane: { queue: 'webhooks-slow', maxConcurrency: 5 },
    },
    // This function calls addresses that merchants choose, so it must not read bank details,
    // payments, API keys or the ledger. Of an event it reads only the bytes.
    table: {
      GetFields: ['EVENT'],
      BatchGetItem: ['DELIVERY', 'ENDPOINTS', 'TEST'],
      PutItem: ['DELIVERY', 'SUSPENSE', 'TEST'],
      UpdateItem: ['DELIVERY', 'NOTED', 'TEST'],
      UpdateFields: ['ENDPOINTS'],
    },
    sends: BOTH_LANES,
    endpointSecrets: 'unseal',
    // A batch's deliveries run in parallel. The merchant has up to 10 s; DNS, table and queue have
    // 8 s.
    timeoutSeconds: 18,
    calls: { tries: 2, timeoutMs: 1_000 },
    recursive: true,
    callsMerchants: true,
  }),
  task('schedule/check-due-work', {
    ...LOW_MEMORY,
    // An event may wait for the previous run, which ends within a minute. An older event is
    // dropped.
    trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 180 } },
    table: { indexes: ['by-due'] },
    sends: ['due-alerts', 'due-deliveries', 'due-payments'],
    timeoutSeconds: 60,
    reservedConcurrency: 1,
  }),
  dueTask('payment', 'payments', {
    table: DUE_PAYMENTS,
    sends: BOTH_LANES,
    alerts: true,
    secrets: ['read-provider'],
  }),
  dueTask('delivery', 'deliveries', { ...LOW_MEMORY, table: DUE_DELIVERIES, sends: BOTH_LANES }),
  dueTask('alert', 'alerts', { ...LOW_MEMORY, table: DUE_ALERTS, alerts: true }),
  task('schedule/sweep-settlements', {
    ...LOW_MEMORY,
    trigger: { kind: 'schedule', schedule: { dailyAt: 'sweepAtUtc', maxEventAgeSeconds: 3_600 } },
    table: ALL_CLIENTS,
    sends: ['settlements'],
    // A run sends one message for each client, page by page. 300 s are enough for many thousand
    // clients.
    timeoutSeconds: 300,
  }),
  task('queue/settle-client', {
    ...ASKS_PROVIDER,
    trigger: { kind: 'queue', queue: 'settlements', batchSize: 1, maxConcurrency: 10 },
    table: SETTLING,
    sends: ['settlements', 'audits', ...BOTH_LANES],
    timeoutSeconds: 300,
    recursive: true,
  }),
  task('schedule/audit-clients', {
    ...LOW_MEMORY,
    trigger: { kind: 'schedule', schedule: { dailyAt: 'auditAtUtc', maxEventAgeSeconds: 3_600 } },
    table: allAccess(ALL_CLIENTS, listOf('SETTLEMENT', 'by-due'), { GetItem: ['SYNC'] }),
    sends: ['audits'],
    alerts: true,
    timeoutSeconds: 300,
  }),
  task('schedule/compare-balance', {
    trigger: { kind: 'schedule', schedule: { everyMinutes: 10, maxEventAgeSeconds: 600 } },
    table: allAccess(ALL_CLIENTS, JOURNAL_READ, listOf('SETTLEMENT', 'by-owner'), {
      BatchGetItem: ['JOURNAL', 'PAYMENT', 'SUSPENSE', 'SYNC'],
      indexes: ['by-due', 'by-open', 'by-status'],
      GetItem: ['SYNC'],
      Query: ['HOUSE', 'LEDGER'],
      PutItem: ['SYNC'],
    }),
    alerts: true,
    secrets: ['read-provider'],
    timeoutSeconds: 300,
    memoryMb: 1_769,
  }),
  task('queue/audit-client', {
    trigger: { kind: 'queue', queue: 'audits', batchSize: 1, maxConcurrency: 5 },
    table: AUDITING,
    sends: ['audits'],
    alerts: true,
    timeoutSeconds: 300,
    recursive: true,
  }),
  task('schedule/sync-provider-transactions', {
    ...ASKS_PROVIDER,
    trigger: { kind: 'schedule', schedule: { everyMinutes: 5, maxEventAgeSeconds: 600 } },
    table: SYNCING,
    sends: [...BOTH_LANES, 'sync'],
    // A run starts no new page after four minutes. The next run continues from there.
    timeoutSeconds: 300,
  }),
  task('queue/sync-slices', {
    ...ASKS_PROVIDER,
    // These workers run beside the scheduled run. The provider's quota limits all of them together.
    trigger: {
      kind: 'queue',
      queue: 'sync',
      batchSize: 1,
      maxConcurrency: 10,
      runsAt: ({ callsPerMinute }) => workersForQuota('listing', callsPerMinute),
    },
    table: SYNCING,
    sends: BOTH_LANES,
    timeoutSeconds: 300,
  }),
]

function task(
  file: `${'callback' | 'queue' | 'schedule'}/${string}`,
  spec: Pick<FunctionSpec, 'trigger' | 'table'> & Access,
): FunctionSpec {
  return {
    ...DEFAULTS,
    name: file.slice(file.indexOf('/') + 1),
    entry: `functions/${file}.ts`,
    ...spec,
  }
}

/** A function for one kind of due work. A message of its queue names one slot. */
function dueTask(
  work: Parameters<typeof maxWorkers>[0],
  plural: 'payments' | 'deliveries' | 'alerts',
  access: Pick<FunctionSpec, 'table'> & Access,
): FunctionSpec {
  return task(`queue/check-due-${plural}`, {
    trigger: {
      kind: 'queue',
      queue: `due-${plural}`,
      batchSize: 1,
      maxConcurrency: maxWorkers(work, 0),
      runsAt: ({ callsPerMinute }) => maxWorkers(work, callsPerMinute),
    },
    // A worker starts no new work after 60 s. Calls in progress have the other 30 s.
    timeoutSeconds: 90,
    // One run more than the queue starts, so that a release can probe the function while all
    // workers are busy.
    reservedConcurrency: maxWorkers(work, 0) + 1,
    ...access,
  })
}
