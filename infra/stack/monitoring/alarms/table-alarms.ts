import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, type MetricRef, sumOf, withoutGaps } from './metric-ref.ts'
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

/** Of the units a stage allows itself. */
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

const throttled = (
  watched: Watched,
  { metric, ...text }: Pick<AlarmSpec, 'id' | 'summary' | 'impact'> & { readonly metric: Throttles },
): AlarmSpec => ({
  ...text,
  severity: 'page',
  measure: sumOf([...throttlesByPart(watched, metric).values()]),
  when: { atLeast: 10, minutes: 1, periods: 3, outOf: 5 },
  because: 'Single ones happen while a partition splits, and the SDK repeats them.',
})

const errors = ({ table }: Watched): AlarmSpec => ({
  id: 'table-errors',
  severity: 'page',
  summary: 'DynamoDB answers with errors of its own.',
  impact: 'merchants and customers: any request may answer 500.',
  measure: sumOf(
    TABLE_OPERATIONS.map((Operation) =>
      awsMetric('AWS/DynamoDB', 'SystemErrors', { TableName: table.name, Operation }, 'Sum'),
    ),
  ),
  when: { atLeast: 10, minutes: 1, periods: 3, outOf: 5 },
  because: 'Single ones are repeated by the SDK; ten a minute are an incident of AWS.',
})

const closeToMaximum = ({ table }: Watched, kind: 'reads' | 'writes'): AlarmSpec => {
  const [name, maxUnits] =
    kind === 'reads'
      ? (['ConsumedReadCapacityUnits', table.maxReadUnits] as const)
      : (['ConsumedWriteCapacityUnits', table.maxWriteUnits] as const)
  return {
    id: `table-${kind}-near-maximum`,
    severity: 'ticket',
    summary: `The table’s ${kind} come close to the most that the stage allows.`,
    impact: 'nobody yet: everyone, once requests are throttled.',
    measure: withoutGaps(awsMetric('AWS/DynamoDB', name, { TableName: table.name }, 'Sum')),
    when: { above: CLOSE * maxUnits * 60, minutes: 1, periods: 5 },
    because: 'Units a minute: 80 % of the limit that infra/stack/stage.ts sets against a bill out of control.',
  }
}

/** The one table and its indexes. */
export const tableAlarms = (watched: Watched): readonly AlarmSpec[] => [
  throttled(watched, {
    id: 'table-reads-throttled',
    summary: 'DynamoDB refuses reads of the table or of an index.',
    impact: 'merchants, whose requests are slow or answer 500.',
    metric: 'ReadThrottleEvents',
  }),
  throttled(watched, {
    id: 'table-writes-throttled',
    summary: 'DynamoDB refuses writes to the table or to an index.',
    impact: 'merchants and customers: payments cannot be created, credited or announced.',
    metric: 'WriteThrottleEvents',
  }),
  errors(watched),
  closeToMaximum(watched, 'reads'),
  closeToMaximum(watched, 'writes'),
]
