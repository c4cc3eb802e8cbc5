import { runsByItself } from '../../../../functions/function-spec.ts'
import { FUNCTION_GROUPS, type FunctionGroup } from '../alarms/function-groups.ts'
import { awsMetric, type Measure, OVERALL, sumOf } from '../alarms/metric-ref.ts'
import { TABLE_OPERATIONS } from '../alarms/table-alarms.ts'
import type { Watched } from '../alarms/watched.ts'
import { failedMessages } from '../alarms/write-alarms.ts'
import { type DashboardRow, type Graph, line } from './graph.ts'

const api = (watched: Watched): readonly Graph[] => {
  const { apiId, our } = watched
  const of = (name: '5xx' | '4xx' | 'Count') => awsMetric('AWS/ApiGateway', name, { ApiId: apiId }, 'Sum')
  const latency = (statistic: 'p50' | 'p99') => awsMetric('AWS/ApiGateway', 'Latency', { ApiId: apiId }, statistic)
  return [
    {
      title: 'API: requests',
      unit: 'per minute',
      lines: [line('all', of('Count')), line('refused (4xx)', of('4xx')), line('failed (5xx)', of('5xx'))],
    },
    {
      title: 'API: latency',
      unit: 'milliseconds',
      lines: [line('half of them', latency('p50')), line('99 of 100', latency('p99'))],
    },
    {
      title: 'Failures of our own',
      unit: 'per minute',
      lines: [
        line('requests answered 5xx by us', our('RequestFailures', OVERALL, 'Sum')),
        line('calls refused by the provider', our('CallsRefused', OVERALL, 'Sum')),
        line('callbacks refused', our('CallbacksRefused', OVERALL, 'Sum')),
        line('messages failed', failedMessages(watched)),
        line('fan-outs failed', our('FanOutFailures', OVERALL, 'Sum')),
        line('alerts failed', our('AlertFailures', OVERALL, 'Sum')),
        line('due work failed', our('DueWorkFailures', OVERALL, 'Sum')),
      ],
    },
    {
      title: 'Runs, and what due work repaired',
      unit: 'per hour',
      lines: [
        line('due work', our('DueWorkRuns', OVERALL, 'Sum')),
        line('sweep', our('SweepRuns', OVERALL, 'Sum')),
        line('clients swept', our('SweptClients', OVERALL, 'Sum')),
        line('sync', our('SyncRuns', OVERALL, 'Sum')),
        line('sync cut short', our('SyncsIncomplete', OVERALL, 'Sum')),
        line('events repaired', our('EventsRepaired', OVERALL, 'Sum')),
        line('deliveries repaired', our('DeliveriesRepaired', OVERALL, 'Sum')),
      ],
      periodMinutes: 60,
    },
  ]
}

type LambdaSum = 'Errors' | 'Throttles' | 'Invocations'

const ofGroup = ({ functions }: Watched, { has }: FunctionGroup, name: LambdaSum): Measure =>
  sumOf(
    functions
      .filter(({ spec }) => has(spec))
      .map(({ functionName }) => awsMetric('AWS/Lambda', name, { FunctionName: functionName }, 'Sum')),
  )

const byGroup = (watched: Watched, title: string, name: LambdaSum): Graph => ({
  title,
  unit: 'per minute',
  lines: FUNCTION_GROUPS.map((group) => line(group.id, ofGroup(watched, group, name))),
})

const functions = (watched: Watched): readonly Graph[] => [
  byGroup(watched, 'Functions: runs', 'Invocations'),
  byGroup(watched, 'Functions: crashes and timeouts', 'Errors'),
  byGroup(watched, 'Functions: not started', 'Throttles'),
  {
    title: 'Slowest of 100 runs',
    unit: 'milliseconds',
    lines: watched.functions
      .filter(({ spec }) => runsByItself(spec))
      .map(({ spec, functionName }) =>
        line(spec.name, awsMetric('AWS/Lambda', 'Duration', { FunctionName: functionName }, 'p99')),
      ),
    periodMinutes: 5,
  },
  {
    title: 'Functions at once, without a reservation',
    unit: 'runs in the account',
    lines: [line('at once', awsMetric('AWS/Lambda', 'UnreservedConcurrentExecutions', {}, 'Maximum'))],
  },
]

const throttledBy = ({ table }: Watched, title: string, name: 'ReadThrottleEvents' | 'WriteThrottleEvents'): Graph => ({
  title,
  unit: 'per minute',
  lines: [
    line('table', awsMetric('AWS/DynamoDB', name, { TableName: table.name }, 'Sum')),
    ...table.indexes.map((index) =>
      line(index, awsMetric('AWS/DynamoDB', name, { TableName: table.name, GlobalSecondaryIndexName: index }, 'Sum')),
    ),
  ],
})

const table = (watched: Watched): readonly Graph[] => {
  const { our } = watched
  const { name } = watched.table
  const used = (kind: 'ConsumedReadCapacityUnits' | 'ConsumedWriteCapacityUnits'): Measure => ({
    formula: 'units / PERIOD(units)',
    of: { units: awsMetric('AWS/DynamoDB', kind, { TableName: name }, 'Sum') },
  })
  return [
    {
      title: 'Table: units used',
      unit: 'per second',
      lines: [line('read', used('ConsumedReadCapacityUnits')), line('write', used('ConsumedWriteCapacityUnits'))],
    },
    throttledBy(watched, 'Reads refused', 'ReadThrottleEvents'),
    throttledBy(watched, 'Writes refused', 'WriteThrottleEvents'),
    {
      title: 'Table: latency',
      unit: 'milliseconds on average',
      lines: TABLE_OPERATIONS.map((operation) =>
        line(
          operation,
          awsMetric('AWS/DynamoDB', 'SuccessfulRequestLatency', { TableName: name, Operation: operation }, 'Average'),
        ),
      ),
    },
    {
      title: 'Writes that met others',
      unit: 'per minute',
      lines: [
        line('tried again', our('ConflictRetries', OVERALL, 'Sum')),
        line('given up', our('ConflictsLost', OVERALL, 'Sum')),
      ],
    },
  ]
}

const queues = (watched: Watched): readonly Graph[] => {
  const of = (queueName: string, name: 'ApproximateAgeOfOldestMessage' | 'ApproximateNumberOfMessagesVisible') =>
    awsMetric('AWS/SQS', name, { QueueName: queueName }, 'Maximum')
  const byQueue = (name: Parameters<typeof of>[1]) =>
    Object.entries(watched.queues).map(([queue, queueName]) => line(queue, of(queueName, name)))
  return [
    { title: 'Oldest message', unit: 'seconds', lines: byQueue('ApproximateAgeOfOldestMessage') },
    { title: 'Messages that wait', unit: 'messages', lines: byQueue('ApproximateNumberOfMessagesVisible') },
    {
      title: 'Table’s stream: behind',
      unit: 'milliseconds',
      lines: watched.functions
        .filter(({ spec }) => spec.trigger.kind === 'stream')
        .map(({ spec, functionName }) =>
          line(spec.name, awsMetric('AWS/Lambda', 'IteratorAge', { FunctionName: functionName }, 'Maximum')),
        ),
    },
  ]
}

/** What money moves on: looked at once the first row says that it does not. */
export const machineRows = (watched: Watched): readonly DashboardRow[] => [
  { heading: 'API', graphs: api(watched) },
  { heading: 'Queues and stream', graphs: queues(watched) },
  { heading: 'Functions', graphs: functions(watched) },
  { heading: 'Table', graphs: table(watched) },
]
