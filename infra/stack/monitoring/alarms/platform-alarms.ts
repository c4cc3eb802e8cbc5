import type { Watched } from '../watched-stack.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { certificateEnds } from './front-alarms.ts'
import { awsMetric, countOf, type MetricRef, orZero, sumOf, withoutGaps } from './metric-ref.ts'

/** The operations that our code sends to DynamoDB. */
export const TABLE_OPERATIONS = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'TransactWriteItems',
] as const

const CLOSE = 0.8

type Throttles = 'ReadThrottleEvents' | 'WriteThrottleEvents'

/**
 * The table, and the concurrent runs. Functions without reserved runs share the account's others.
 */
export function platformAlarms(watched: Watched): readonly AlarmSpec[] {
  return [
    throttledTable(watched),
    tableNearMaximum(watched),
    protectionChanged(watched),
    ...backupMissing(watched),
    ...(watched.certificateArn === undefined
      ? []
      : [certificateEnds('origin-certificate-ends', { origin: watched.certificateArn })]),
    {
      id: 'concurrency-near-limit',
      page: 'page-platform',
      summary:
        'Functions without reserved concurrency use almost all unreserved runs of the account.',
      impact: 'the reads of merchants and the schedules, if the limit is reached.',
      measure: awsMetric('AWS/Lambda', 'UnreservedConcurrentExecutions', {}, 'Maximum'),
      unit: 'runs in the account',
      when: {
        above: Math.floor(CLOSE * (watched.accountConcurrency - watched.reservedRuns)),
        minutes: 1,
        periods: 3,
        outOf: 5,
      },
      because: `${CLOSE * 100} % of \`accountConcurrency\`, less the ${watched.reservedRuns} runs that the stage reserves. Other stacks of the account count too.`,
    },
  ]
}

function throttledTable(watched: Watched): AlarmSpec {
  return {
    id: 'table-throttled',
    page: 'page-platform',
    summary: 'DynamoDB refuses reads or writes of the table or of an index.',
    impact:
      'merchants and customers: payments are slow, or cannot be created, credited or announced.',
    measure: sumOf(
      (['ReadThrottleEvents', 'WriteThrottleEvents'] as const).flatMap((name) => [
        ...throttlesByPart(watched, name).values(),
      ]),
    ),
    unit: 'requests refused',
    when: { atLeast: 10, minutes: 1, periods: 3, outOf: 5 },
    because: 'A few happen while a partition splits. The SDK retries them.',
  }
}

/** A throttled index holds up writes to the table, so one alarm watches both. */
export function throttlesByPart(
  { table }: Watched,
  name: Throttles,
): ReadonlyMap<string, MetricRef> {
  const TableName = table.name
  const ofIndexes = table.indexes.map((GlobalSecondaryIndexName) => {
    const dimensions = { TableName, GlobalSecondaryIndexName }
    return [GlobalSecondaryIndexName, awsMetric('AWS/DynamoDB', name, dimensions, 'Sum')] as const
  })
  return new Map([['table', awsMetric('AWS/DynamoDB', name, { TableName }, 'Sum')], ...ofIndexes])
}

function tableNearMaximum({
  table: { name: TableName, maxReadUnits, maxWriteUnits },
}: Watched): AlarmSpec {
  return {
    id: 'table-near-maximum',
    summary: 'Reads or writes of the table are close to the maximum that the stage sets.',
    impact: 'all callers, if DynamoDB begins to refuse requests.',
    measure: {
      formula: countOf([
        `${orZero('reads')} > ${CLOSE * maxReadUnits * 60}`,
        `${orZero('writes')} > ${CLOSE * maxWriteUnits * 60}`,
      ]),
      metrics: {
        reads: awsMetric('AWS/DynamoDB', 'ConsumedReadCapacityUnits', { TableName }, 'Sum'),
        writes: awsMetric('AWS/DynamoDB', 'ConsumedWriteCapacityUnits', { TableName }, 'Sum'),
      },
    },
    unit: 'limits',
    when: { atLeast: 1, minutes: 1, periods: 3, outOf: 5 },
    because: `${CLOSE * 100} % of the maximum. The maximum limits the bill.`,
  }
}

function protectionChanged({ protectionRule: RuleName }: Watched): AlarmSpec {
  return {
    id: 'protection-changed',
    page: 'page-platform',
    summary: 'A key, a table, its recovery, its protection, a backup plan or a trail was weakened.',
    impact: 'everyone, if the books are lost.',
    measure: awsMetric('AWS/Events', 'TriggeredRules', { RuleName }, 'Sum'),
    unit: 'changes',
    when: { atLeast: 1, minutes: 5, periods: 1 },
    because: 'A key can be kept for 30 days after it was scheduled for deletion, a table cannot.',
  }
}

function backupMissing({ backupVault: BackupVaultName }: Watched): readonly AlarmSpec[] {
  if (BackupVaultName === undefined) return []
  return [
    {
      id: 'backup-missing',
      summary: 'No backup was copied to the other region for more than a day.',
      impact: 'everyone, if the region or the account is lost.',
      measure: withoutGaps(
        awsMetric('AWS/Backup', 'NumberOfCopyJobsCompleted', { BackupVaultName }, 'Sum'),
      ),
      unit: 'copies',
      when: { below: 1, minutes: 60, periods: 32 },
      because: 'A backup begins at 01:00 UTC, and AWS may take some hours for it and its copy.',
      whenMissing: 'breaching',
    },
  ]
}
