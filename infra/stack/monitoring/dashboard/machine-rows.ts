import {
  answersClients,
  type FunctionSpec,
  runsByItself,
} from '../../../../functions/function-spec.ts'
import type { MetricName } from '../../../../shared/metrics.ts'
import { awsMetric, type Formula, OVERALL, sumOf } from '../alarms/metric-ref.ts'
import { TABLE_OPERATIONS, throttlesByPart } from '../alarms/platform-alarms.ts'
import type { Watched } from '../watched-stack.ts'
import { type DashboardRow, type Graph, graph, line } from './graph.ts'

/** Functions that work for the same people: a line on the dashboard. */
type FunctionGroup = { readonly id: string; readonly has: (spec: FunctionSpec) => boolean }

/** For a reader whose first row shows that money does not move. */
export function machineRows(watched: Watched): readonly DashboardRow[] {
  return [
    { heading: 'API', graphs: [...apiGraphs(watched), ...gatewayGraphs(watched)] },
    { heading: 'Queues', graphs: queueGraphs(watched) },
    { heading: 'Functions', graphs: functionGraphs(watched) },
    { heading: 'Table', graphs: tableGraphs(watched) },
  ]
}

function apiGraphs({ apiId }: Watched): readonly Graph[] {
  const count = (name: '5xx' | '4xx' | 'Count') =>
    awsMetric('AWS/ApiGateway', name, { ApiId: apiId }, 'Sum')
  const latency = (statistic: 'p50' | 'p99') =>
    awsMetric('AWS/ApiGateway', 'Latency', { ApiId: apiId }, statistic)
  const requests = [
    line('all', count('Count')),
    line('refused (4xx)', count('4xx')),
    line('failed (5xx)', count('5xx')),
  ]
  return [
    graph('API: requests', 'per minute', requests),
    graph('API: latency', 'milliseconds', [
      line('p50', latency('p50')),
      line('p99', latency('p99')),
    ]),
  ]
}

function gatewayGraphs(watched: Watched): readonly Graph[] {
  const failures = overall(watched, {
    'our 5xx answers': 'RequestFailures',
    'calls refused by the provider': 'CallsRefused',
    'callbacks refused': 'CallbacksRefused',
    'alerts failed': 'AlertFailures',
  })
  const runs = overall(watched, {
    'due work': 'DueWorkRuns',
    sweep: 'SweepRuns',
    'clients swept': 'SweptClients',
    sync: 'SyncRuns',
    'sync cut short': 'SyncsIncomplete',
    'deliveries repaired': 'DeliveriesRepaired',
  })
  return [
    graph('Our failures', 'per minute', failures),
    graph('Runs and repairs', 'per hour', runs, { periodMinutes: 60 }),
  ]
}

/** A line for each named metric of the whole stage. */
function overall({ our }: Watched, names: Readonly<Record<string, MetricName>>) {
  return Object.entries(names).map(([label, name]) => line(label, our(name, OVERALL, 'Sum')))
}

function queueGraphs({ queues: byName }: Watched): readonly Graph[] {
  const byQueue = (name: 'ApproximateAgeOfOldestMessage' | 'ApproximateNumberOfMessagesVisible') =>
    Object.entries(byName).map(([queue, QueueName]) =>
      line(queue, awsMetric('AWS/SQS', name, { QueueName }, 'Maximum')),
    )
  return [
    graph('Oldest message', 'seconds', byQueue('ApproximateAgeOfOldestMessage')),
    graph('Waiting messages', 'messages', byQueue('ApproximateNumberOfMessagesVisible')),
  ]
}

const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  {
    id: 'api',
    has: (spec) => (answersClients(spec) && !spec.lookup) || spec.trigger.kind === 'http-default',
  },
  { id: 'lookups', has: ({ lookup }) => lookup === true },
  { id: 'callbacks', has: (spec) => spec.trigger.kind === 'http' && !answersClients(spec) },
  { id: 'deliveries', has: readsQueue('webhooks') },
  { id: 'settlements', has: readsQueue('settlements') },
  { id: 'audits', has: readsQueue('audits') },
  { id: 'due-work', has: readsQueue('due-') },
  { id: 'schedules', has: (spec) => spec.trigger.kind === 'schedule' || readsQueue('sync')(spec) },
]

function functionGraphs(watched: Watched): readonly Graph[] {
  const byGroup = (name: Parameters<typeof groupSum>[2]) =>
    FUNCTION_GROUPS.map((group) => line(group.id, groupSum(watched, group, name)))
  const slowest = watched.functions
    .filter(({ spec }) => runsByItself(spec))
    .map(({ spec, functionName: FunctionName }) =>
      line(spec.name, awsMetric('AWS/Lambda', 'Duration', { FunctionName }, 'p99')),
    )
  const atOnce = awsMetric('AWS/Lambda', 'UnreservedConcurrentExecutions', {}, 'Maximum')
  return [
    graph('Functions: runs', 'per minute', byGroup('Invocations')),
    graph('Functions: crashes and timeouts', 'per minute', byGroup('Errors')),
    graph('Functions: not started', 'per minute', byGroup('Throttles')),
    graph('Functions: duration p99', 'milliseconds', slowest, { periodMinutes: 5 }),
    graph('Functions: unreserved concurrency', 'runs in the account', [line('concurrent', atOnce)]),
  ]
}

function groupSum(
  { functions }: Watched,
  { has }: FunctionGroup,
  name: 'Errors' | 'Throttles' | 'Invocations',
): Formula {
  const names = functions.filter(({ spec }) => has(spec)).map(({ functionName }) => functionName)
  return sumOf(names.map((FunctionName) => awsMetric('AWS/Lambda', name, { FunctionName }, 'Sum')))
}

function readsQueue(prefix: string) {
  return ({ trigger }: FunctionSpec) => trigger.kind === 'queue' && trigger.queue.startsWith(prefix)
}

function tableGraphs(watched: Watched): readonly Graph[] {
  const TableName = watched.table.name
  const unitRate = (kind: 'ConsumedReadCapacityUnits' | 'ConsumedWriteCapacityUnits') => ({
    formula: 'units / PERIOD(units)',
    metrics: { units: awsMetric('AWS/DynamoDB', kind, { TableName }, 'Sum') },
  })
  const throttled = (name: 'ReadThrottleEvents' | 'WriteThrottleEvents') =>
    [...throttlesByPart(watched, name)].map(([part, metric]) => line(part, metric))
  const latency = TABLE_OPERATIONS.map((Operation) =>
    line(
      Operation,
      awsMetric('AWS/DynamoDB', 'SuccessfulRequestLatency', { TableName, Operation }, 'Average'),
    ),
  )
  return [
    graph('Table: units used', 'per second', [
      line('read', unitRate('ConsumedReadCapacityUnits')),
      line('write', unitRate('ConsumedWriteCapacityUnits')),
    ]),
    graph('Reads refused', 'per minute', throttled('ReadThrottleEvents')),
    graph('Writes refused', 'per minute', throttled('WriteThrottleEvents')),
    graph('Table: latency', 'milliseconds on average', latency),
    graph(
      'Table: write conflicts',
      'per minute',
      overall(watched, { retried: 'ConflictRetries', 'given up': 'ConflictsLost' }),
    ),
  ]
}
