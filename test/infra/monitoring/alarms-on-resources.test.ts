import { describe, expect, it } from 'vitest'
import { AWS_METRICS, awsMetric, ourMetrics } from '../../../infra/stack/monitoring/alarms/metric-ref.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { METRIC_NAMESPACE } from '../../../shared/metrics.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { graphsIn, type TemplateMetric, tellingAlarms } from '../../support/alarm-template.ts'
import { synthesised } from '../../support/stack-template.ts'

/** Alarms and graphs on what AWS itself measures: names of its documentation, of resources that are there, of all of them. */
const STAGE = 'prod'
const template = synthesised(STAGE)
const alarms = tellingAlarms(template, STAGE)

/** What each of AWS's dimensions may say: names of resources that the template has. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  ApiId: template.ofType('AWS::ApiGatewayV2::Api').map(({ logicalId }) => `<${logicalId}>`),
  FunctionName: template.each('AWS::Lambda::Function', 'FunctionName').map(String),
  QueueName: template.each('AWS::SQS::Queue', 'QueueName').map(String),
  TableName: template.each('AWS::DynamoDB::GlobalTable', 'TableName').map(String),
  GlobalSecondaryIndexName: Object.keys(TABLE_SCHEMA.indexes),
  Operation: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems'],
}

const namespaces: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = AWS_METRICS

/** Everything wrong with a reference to one of AWS's metrics. */
const mistakesIn = ({ namespace, name, dimensions }: Omit<TemplateMetric, 'periodSeconds'>): readonly string[] => {
  const documented = namespaces[namespace]?.[name]
  if (!documented) return [`${namespace} ${name} is not documented`]
  const required = documented.slice(0, 1).filter((dimension) => dimensions[dimension] === undefined)
  return [
    ...required.map((dimension) => `${name} lacks ${dimension}`),
    ...Object.entries(dimensions)
      .filter(([dimension, value]) => !documented.includes(dimension) || !ALLOWED[dimension]?.includes(value))
      .map(([dimension, value]) => `${name}: ${dimension} ${value}`),
  ]
}

it('metrics of AWS are of resources that the template has, on alarms and dashboard', () => {
  const foreign = [...alarms, ...graphsIn(template)]
    .flatMap(({ metrics }) => metrics)
    .filter(({ namespace }) => !namespace.startsWith(METRIC_NAMESPACE))

  expect(foreign.length).toBeGreaterThan(100)
  expect(foreign.flatMap(mistakesIn)).toStrictEqual([])
  const nothing = {
    namespace: 'AWS/SQS',
    name: 'NumberOfMessagesDeleted',
    dimensions: { QueueName: 'gateway-prod-none' },
  }
  expect(mistakesIn(nothing)).toHaveLength(1)
})

describe('nothing is left unwatched', () => {
  const watching = (name: string, dimension: string) =>
    alarms.flatMap(({ metrics }) =>
      metrics.filter((metric) => metric.name === name).map((metric) => metric.dimensions[dimension] ?? 'itself'),
    )

  it('of the queues: each dead-letter queue is to be empty, and what feeds them is to move', () => {
    const queues = template.ofType('AWS::SQS::Queue')
    const dead = queues.filter(({ properties }) => properties['RedrivePolicy'] === undefined)
    const named = (some: typeof queues) => some.map(({ properties }) => String(properties['QueueName']))

    expect(dead.length).toBeGreaterThan(2)
    expect(watching('ApproximateNumberOfMessagesVisible', 'QueueName')).toStrictEqual(
      expect.arrayContaining(named(dead)),
    )
    expect(watching('ApproximateAgeOfOldestMessage', 'QueueName').toSorted()).toStrictEqual(
      // What those of due work are about is handed out anew each minute: how late it is says more than their messages.
      named(queues.filter((queue) => !dead.includes(queue)))
        .filter((name) => !name.includes('-due-'))
        .toSorted(),
    )
  })

  it.each(['ReadThrottleEvents', 'WriteThrottleEvents'])('of the table: %s of itself and of each index', (name) => {
    expect(watching(name, 'GlobalSecondaryIndexName')).toStrictEqual(['itself', ...Object.keys(TABLE_SCHEMA.indexes)])
  })

  it('of the account: the runs that the stage’s reservations leave to all others', () => {
    const reserved = template
      .all('AWS::Lambda::Function')
      .reduce((sum, { ReservedConcurrentExecutions: runs }) => sum + Number(runs ?? 0), 0)

    expect(reserved).toBeGreaterThan(500)
    expect(alarms.find(({ id }) => id === 'concurrency-near-limit')).toMatchObject({
      metrics: [{ name: 'UnreservedConcurrentExecutions', dimensions: {} }],
      threshold: Math.floor(0.8 * (deployedStage(STAGE).accountConcurrency - reserved)),
    })
  })
})

const our = ourMetrics('prod')

it('a reference to a metric does not compile with a name, a dimension or a set that the catalogue does not have', () => {
  const mistakes = [
    // @ts-expect-error No such metric.
    our('Payment', { outcome: 'created' }, 'Sum'),
    // @ts-expect-error No such dimension.
    our('Payments', { result: 'created' }, 'Sum'),
    // @ts-expect-error Half a set: nothing is emitted with method and outcome alone.
    our('Payments', { method: 'qris', outcome: 'created' }, 'Sum'),
    // @ts-expect-error No set is empty.
    our('Payments', {}, 'Sum'),
    // @ts-expect-error Has no dimensions but the stage.
    our('SweepRuns', { outcome: 'created' }, 'Sum'),
    // @ts-expect-error AWS publishes no such metric.
    awsMetric('AWS/SQS', 'ApproximateAgeOfOldest', { QueueName: 'q' }, 'Sum'),
    // @ts-expect-error SQS knows no tables.
    awsMetric('AWS/SQS', 'NumberOfMessagesDeleted', { TableName: 't' }, 'Sum'),
  ]

  expect(mistakes).toHaveLength(7)
})
