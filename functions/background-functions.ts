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

/** Functions that no merchant and no operator calls. The provider's callbacks, queues and schedules start them. */
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
      // Fifty attempts that hang, five a second: whoever hangs waits for others that hang, and nobody else does.
      slowLane: { queue: 'webhooks-slow', maxConcurrency: 5 },
    },
    // It talks to strangers: no bank detail, no payment, no API key, no ledger may be within its reach. Of what lies
    // beside a payment it sees what it sends: the bodies of events. Of one that is lost it writes a finding.
    table: {
      GetFields: ['PAYMENT'],
      BatchGetItem: ['DELIVERY', 'ENDPOINTS'],
      PutItem: ['DELIVERY', 'SUSPENSE'],
      UpdateItem: ['DELIVERY'],
      UpdateFields: ['ENDPOINTS'],
    },
    sends: BOTH_LANES,
    endpointSecrets: 'unseal',
    // Deliveries of a batch run side by side, each with 10 s for the merchant and a few for name, table and queue.
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
    // A tick may wait for the run before it, which is over within a minute: what is set aside was really missed.
    trigger: { kind: 'schedule', schedule: { everyMinutes: 1, maxEventAgeSeconds: 180 } },
    table: { indexes: ['by-due'] },
    sends: ['audits', 'due-alerts', 'due-deliveries', 'due-payments'],
    // It looks at nothing itself: a page of each slot, and a message where there is something.
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
    // A page of clients and a message for each, one after the other: time for many thousand clients.
    timeoutSeconds: 300,
  },
  {
    ...DEFAULTS,
    ...ASKS_PROVIDER,
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
    // A run begins no page after four minutes, and whoever comes next goes on where it ended.
    timeoutSeconds: 300,
  },
  {
    ...DEFAULTS,
    ...ASKS_PROVIDER,
    name: 'sync-slices',
    entry: 'functions/queue/sync-slices.ts',
    // Workers beside the schedule's own; the provider's quota bounds them all together.
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
