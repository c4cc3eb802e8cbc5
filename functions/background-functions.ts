import { workersForQuota } from '../shared/provider/provider-quota.ts'
import { allAccess } from '../shared/table/access.ts'
import { UPSTREAM } from '../shared/table/upstream.ts'
import { DUE_FUNCTIONS } from './due-functions.ts'
import {
  ASKS_PROVIDER,
  BOTH_LANES,
  CALLS_PROVIDER_SECONDS,
  DEFAULTS,
  ONLY_WAITS,
  webhookRuns,
} from './function-defaults.ts'
import type { FunctionSpec } from './function-spec.ts'
import { AUDITING, NEWS, PAUSES, SETTLING, SYNCING } from './table-access.ts'

/** Functions that callbacks of the provider, queues and schedules start; merchants and operators do not. */
export const BACKGROUND_FUNCTIONS: readonly FunctionSpec[] = [
  {
    ...DEFAULTS,
    ...ONLY_WAITS,
    ...ASKS_PROVIDER,
    name: 'receive-provider-callback',
    entry: 'functions/callback/receive-provider-callback.ts',
    trigger: { kind: 'http', method: 'POST', path: `/callbacks/${UPSTREAM}` },
    table: allAccess(NEWS, PAUSES),
    sends: [...BOTH_LANES, 'sync'],
    secrets: [...ASKS_PROVIDER.secrets, 'read-callback-tokens'],
    timeoutSeconds: CALLS_PROVIDER_SECONDS,
  },
  {
    ...DEFAULTS,
    ...ONLY_WAITS,
    name: 'deliver-webhook',
    entry: 'functions/queue/deliver-webhook.ts',
    trigger: {
      kind: 'queue',
      queue: 'webhooks',
      batchSize: 10,
      maxConcurrency: 100,
      runsAt: webhookRuns,
      // 50 attempts may hang at once, about five end each second. Slow endpoints delay only other slow endpoints.
      slowLane: { queue: 'webhooks-slow', maxConcurrency: 5 },
    },
    // It calls addresses that merchants choose, so it must not read bank details, payments, API keys or the ledger.
    // Of a payment's partition it reads only event bodies. It records a finding when an event is missing.
    table: {
      GetFields: ['PAYMENT'],
      BatchGetItem: ['DELIVERY', 'ENDPOINTS'],
      PutItem: ['DELIVERY', 'SUSPENSE'],
      UpdateItem: ['DELIVERY'],
      UpdateFields: ['ENDPOINTS'],
    },
    sends: BOTH_LANES,
    endpointSecrets: 'unseal',
    // A batch's deliveries run in parallel. Each takes up to 10 s for the merchant; the rest is for DNS, table and queue.
    timeoutSeconds: 18,
    calls: { tries: 2, timeoutMs: 1_000 },
    recursive: true,
    callsMerchants: true,
  },
  {
    ...DEFAULTS,
    ...ONLY_WAITS,
    name: 'check-due-work',
    entry: 'functions/schedule/check-due-work.ts',
    // An event may wait for the run before it, which ends within a minute. An older event is really missed.
    trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 180 } },
    table: { indexes: ['by-due'] },
    sends: ['audits', 'due-alerts', 'due-deliveries', 'due-payments'],
    // It only reads a page of each slot, and sends a message when the slot has work.
    timeoutSeconds: 60,
    reservedConcurrency: 1,
  },
  ...DUE_FUNCTIONS,
  {
    ...DEFAULTS,
    ...ONLY_WAITS,
    name: 'sweep-settlements',
    entry: 'functions/schedule/sweep-settlements.ts',
    trigger: { kind: 'schedule', schedule: { dailyAt: 'sweepAtUtc', maxEventAgeSeconds: 3_600 } },
    table: { indexes: ['by-owner'] },
    sends: ['settlements'],
    // It sends one message a client, page by page. 300 s are enough for many thousand clients.
    timeoutSeconds: 300,
  },
  {
    ...DEFAULTS,
    ...ASKS_PROVIDER,
    name: 'settle-client',
    entry: 'functions/queue/settle-client.ts',
    // One client a message: a large client must not use the time of the next ones.
    trigger: { kind: 'queue', queue: 'settlements', batchSize: 1, maxConcurrency: 10 },
    table: SETTLING,
    sends: ['settlements'],
    timeoutSeconds: 300,
    recursive: true,
  },
  {
    ...DEFAULTS,
    ...ONLY_WAITS,
    name: 'audit-clients',
    entry: 'functions/schedule/audit-clients.ts',
    trigger: { kind: 'schedule', schedule: { dailyAt: 'auditAtUtc', maxEventAgeSeconds: 3_600 } },
    table: { BatchGetItem: ['SETTLEMENT'], indexes: ['by-due', 'by-owner'] },
    sends: ['audits'],
    alerts: true,
    timeoutSeconds: 300,
  },
  {
    ...DEFAULTS,
    name: 'audit-client',
    entry: 'functions/queue/audit-client.ts',
    trigger: { kind: 'queue', queue: 'audits', batchSize: 1, maxConcurrency: 5 },
    table: allAccess(AUDITING, { UpdateItem: ['VERDICT'] }),
    sends: ['audits'],
    alerts: true,
    timeoutSeconds: 300,
    recursive: true,
  },
  {
    ...DEFAULTS,
    ...ASKS_PROVIDER,
    name: 'sync-provider-transactions',
    entry: 'functions/schedule/sync-provider-transactions.ts',
    trigger: { kind: 'schedule', schedule: { everyMinutes: 5, maxEventAgeSeconds: 600 } },
    table: SYNCING,
    sends: [...BOTH_LANES, 'sync'],
    // A run starts no page after four minutes. The next run continues where it ended.
    timeoutSeconds: 300,
  },
  {
    ...DEFAULTS,
    ...ASKS_PROVIDER,
    name: 'sync-slices',
    entry: 'functions/queue/sync-slices.ts',
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
  },
]
