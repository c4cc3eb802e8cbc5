import { mostWorkers } from '../shared/due-work/due-slot.ts'
import { BOTH_LANES, DEFAULTS, ONLY_WAITS } from './function-defaults.ts'
import type { FunctionSpec } from './function-spec.ts'
import { DUE_ALERTS, DUE_DELIVERIES, DUE_PAYMENTS } from './table-access.ts'

const due = (
  work: Parameters<typeof mostWorkers>[0],
  plural: 'payments' | 'deliveries' | 'alerts',
  access: Pick<FunctionSpec, 'table'> & Partial<FunctionSpec>,
): FunctionSpec => ({
  ...DEFAULTS,
  name: `check-due-${plural}`,
  entry: `functions/queue/check-due-${plural}.ts`,
  trigger: {
    kind: 'queue',
    queue: `due-${plural}`,
    batchSize: 1,
    maxConcurrency: mostWorkers(work, 0),
    runsAt: ({ callsPerMinute }) => mostWorkers(work, callsPerMinute),
  },
  // A worker starts no new work after 60 s. The other 30 s are for calls in progress.
  timeoutSeconds: 90,
  reservedConcurrency: mostWorkers(work, 0),
  ...access,
})

/** One function for each kind of due work. A message of its queue names one slot. */
export const DUE_FUNCTIONS: readonly FunctionSpec[] = [
  due('payment', 'payments', { table: DUE_PAYMENTS, sends: BOTH_LANES, alerts: true, secrets: ['read-provider'] }),
  due('delivery', 'deliveries', { ...ONLY_WAITS, table: DUE_DELIVERIES, sends: BOTH_LANES }),
  due('alert', 'alerts', { ...ONLY_WAITS, table: DUE_ALERTS, alerts: true }),
]
