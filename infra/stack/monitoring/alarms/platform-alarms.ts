import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, countOf, type MetricRef, orZero, sumOf } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** The operations our code sends (shared/table). */
export const TABLE_OPERATIONS = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'TransactWriteItems',
] as const

/** Of what a stage or an account allows. */
const CLOSE = 0.8

type Throttles = 'ReadThrottleEvents' | 'WriteThrottleEvents'

/** A throttled index holds up writes to the table, so both are watched together; the dashboard tells them apart. */
export const throttlesByPart = ({ table }: Watched, name: Throttles): ReadonlyMap<string, MetricRef> =>
  new Map([
    ['table', awsMetric('AWS/DynamoDB', name, { TableName: table.name }, 'Sum')],
    ...table.indexes.map((index): [string, MetricRef] => [
      index,
      awsMetric('AWS/DynamoDB', name, { TableName: table.name, GlobalSecondaryIndexName: index }, 'Sum'),
    ]),
  ])

const throttled = (watched: Watched): AlarmSpec => ({
  id: 'table-throttled',
  page: 'page-platform',
  summary: 'DynamoDB refuses reads or writes of the table or of an index.',
  impact: 'merchants and customers: payments are slow, or cannot be created, credited or announced.',
  measure: sumOf(
    (['ReadThrottleEvents', 'WriteThrottleEvents'] as const).flatMap((name) => [
      ...throttlesByPart(watched, name).values(),
    ]),
  ),
  unit: 'requests refused',
  when: { atLeast: 10, minutes: 1, periods: 3, outOf: 5 },
  because: 'Single ones happen while a partition splits, and the SDK repeats them.',
  look: [
    'The dashboard’s "Reads refused" and "Writes refused" name the table or the index. Is the stage’s maximum reached?',
    "aws dynamodb describe-table --table-name gateway-prod --query 'Table.[OnDemandThroughput,GlobalSecondaryIndexes[].[IndexName,OnDemandThroughput]]'",
    'filter message in ["request.completed", "request.failed"] | stats count() as n by route, client_id | sort n desc',
  ],
  act: [
    'At the maximum: raise `maxReadUnits` or `maxWriteUnits` in the stage’s file and deploy. Below it: one key is hot, or the table is cold; set `table.warm`, or lower the throttle of creates. One client: `update-client --client_id CLIENT_ID --rate_limit_per_second N`.',
    'Every refused write is repeated by its caller, by due work or by the provider.',
  ],
})

const nearMaximum = ({ table: { name: TableName, maxReadUnits, maxWriteUnits } }: Watched): AlarmSpec => ({
  id: 'table-near-maximum',
  summary: 'The table’s reads or writes come close to the most that the stage allows.',
  impact: 'no one yet; all callers, once requests are refused.',
  measure: {
    formula: countOf([
      `${orZero('reads')} > ${CLOSE * maxReadUnits * 60}`,
      `${orZero('writes')} > ${CLOSE * maxWriteUnits * 60}`,
    ]),
    of: {
      reads: awsMetric('AWS/DynamoDB', 'ConsumedReadCapacityUnits', { TableName }, 'Sum'),
      writes: awsMetric('AWS/DynamoDB', 'ConsumedWriteCapacityUnits', { TableName }, 'Sum'),
    },
  },
  unit: 'limits',
  when: { atLeast: 1, minutes: 1, periods: 5 },
  because: `${CLOSE * 100} % of the maximum that the stage sets against a bill out of control.`,
  look: ['Growth, or a loop? Compare a week on the dashboard with the payments created.'],
  act: [
    'Growth: raise `maxReadUnits` or `maxWriteUnits` in the stage’s file and deploy. A loop: find the function whose runs rose, and what starts it.',
  ],
})

/** The one table, and the runs of functions. Runs with a reservation are a function's own; all others share the rest. */
export const platformAlarms = (watched: Watched): readonly AlarmSpec[] => [
  throttled(watched),
  nearMaximum(watched),
  {
    id: 'concurrency-near-limit',
    page: 'page-platform',
    summary: 'Functions without a reservation run almost as often at once as the account lets them.',
    impact: 'reads of merchants and schedules, once the limit is reached.',
    measure: awsMetric('AWS/Lambda', 'UnreservedConcurrentExecutions', {}, 'Maximum'),
    unit: 'runs in the account',
    when: {
      above: Math.floor(CLOSE * (watched.accountConcurrency - watched.reservedRuns)),
      minutes: 1,
      periods: 3,
      outOf: 5,
    },
    because: `${CLOSE * 100} % of \`accountConcurrency\` less the ${watched.reservedRuns} runs that the stage reserves. Other stacks of the account count too.`,
    look: [
      "aws lambda get-account-settings --query 'AccountLimit.[ConcurrentExecutions,UnreservedConcurrentExecutions]'",
      'filter message in ["request.completed", "request.failed"] | stats count() as n by client_id, route, bin(1m)',
      'The dashboard says which group runs so much. Twice the latency is twice the concurrency.',
    ],
    act: [
      'Raise the quota "Concurrent executions", then `accountConcurrency`, and deploy. At once: lower a reservation that is not used, or `update-client --client_id CLIENT_ID --rate_limit_per_second N`.',
    ],
  },
]
