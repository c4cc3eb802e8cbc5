import { workersForQuota } from '../shared/provider/workers-for-quota.ts'
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

/** Functions that the provider's callbacks, queues and schedules start. */
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
      // Fifty hanging attempts, five a second. Hanging endpoints wait only for each other.
      slowLane: { queue: 'webhooks-slow', maxConcurrency: 5 },
    },
    // It calls merchants' servers, so it can read no bank details, payments, API keys or ledgers. In a payment's
    // partition it reads only the bodies of events. When a body is lost it writes a finding.
    table: {
      GetFields: ['PAYMENT'],
      BatchGetItem: ['DELIVERY', 'ENDPOINTS'],
      PutItem: ['DELIVERY', 'SUSPENSE'],
      UpdateItem: ['DELIVERY'],
      UpdateFields: ['ENDPOINTS'],
    },
    sends: BOTH_LANES,
    endpointSecrets: 'unseal',
    // Deliveries of a batch run at the same time, each with 10 s for the merchant and a few for DNS, table and queue.
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
    // A tick may wait for the previous run, which ends within a minute. A tick in the dead-letter queue was really
    // missed.
    trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 180 } },
    table: { indexes: ['by-due'] },
    sends: ['audits', 'due-alerts', 'due-deliveries', 'due-payments'],
    // It reads a page of each slot and sends a message where there is something.
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
    // It reads pages of clients and sends a message for each: time for many thousand clients.
    timeoutSeconds: 300,
  },
  {
    ...DEFAULTS,
    ...ASKS_PROVIDER,
    name: 'settle-client',
    entry: 'functions/queue/settle-client.ts',
    // One client a message: a large one must not use up the time of the next.
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
    // A run begins no page after four minutes, and the next run continues.
    timeoutSeconds: 300,
  },
  {
    ...DEFAULTS,
    ...ASKS_PROVIDER,
    name: 'sync-slices',
    entry: 'functions/queue/sync-slices.ts',
    // Workers besides the schedule's own. The provider's quota limits them all together.
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
