import { describe, expect, it } from 'vitest'
import {
  ACCESS_LOG_NAMESPACE,
  AWS_METRICS,
} from '../../../infra/stack/monitoring/alarms/metric-ref.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { isMetric, METRIC_NAMESPACE, METRICS } from '../../../shared/metrics.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { everyMetric } from '../../bench/own-metrics.ts'
import {
  alarmsIn,
  graphsIn,
  type TemplateMetric,
  tellingAlarms,
} from '../../support/alarm-template.ts'
import { synthesised, synthesisedCopies } from '../../support/stack-template.ts'
import { refuseCreate, SCENES } from './scenes.ts'
import { emittedIn, WATCHED_STAGE } from './watched-world.ts'

/**
 * Goal: no alarm and no graph watches a metric that is never emitted. Method: for each alarm on a
 * metric of ours, the failure itself happens to the real handlers with the deployed logger. The
 * metrics in its log lines are compared with the alarm in the synthesised template, by namespace,
 * name and every dimension. Graphs are compared with the catalogue of all metrics that the code can
 * emit.
 */
const STAGE = WATCHED_STAGE

const template = synthesised(STAGE)
const alarms = tellingAlarms(template, STAGE)
const graphs = graphsIn(template)
function isOurs({ namespace }: Pick<TemplateMetric, 'namespace'>) {
  return namespace === METRIC_NAMESPACE
}
const ownAlarms = alarmsIn(template, STAGE).filter(({ metrics }) => metrics.some(isOurs))

function identityOf({ namespace, name, dimensions }: Omit<TemplateMetric, 'periodSeconds'>) {
  return [namespace, name, ...Object.entries(dimensions).map(String).toSorted()].join(' ')
}

function unitOf({ name }: Pick<TemplateMetric, 'name'>) {
  return isMetric(name) ? METRICS[name].unit : undefined
}

/** The lanes of one alarm watch the same failure. */
function sceneOf(id: string) {
  return id.replace(/-(fast|slow|lasting)(-recent)?$|(?<=^audit-not-run)-.*/, '')
}

describe('alarms on metrics of our own', () => {
  it('have a scene, and every scene is for such an alarm', () => {
    expect(new Set(Object.keys(SCENES))).toStrictEqual(
      new Set(ownAlarms.map(({ id }) => sceneOf(id))),
    )
  })

  it.each(ownAlarms.map((alarm) => [alarm.id, alarm]))(
    '%s: the code emits the watched metric when the failure happens, in the unit of the catalogue',
    async (id, { metrics: all, threshold, comparison }) => {
      const metrics = all.filter(isOurs)
      const lines = await emittedIn(SCENES[sceneOf(id)] ?? refuseCreate)

      const emitted = Map.groupBy(lines, identityOf)
      const values = metrics.map((metric) =>
        (emitted.get(identityOf(metric)) ?? []).map(({ value }) => value),
      )
      expect(metrics.filter((_, at) => values[at]?.length === 0)).toStrictEqual([])
      // Counts add up over a period. A time must pass the threshold by itself.
      const isTime = metrics.every((metric) => unitOf(metric) === 'Milliseconds')
      expect(Math.max(...values.flat())).toBeGreaterThanOrEqual(isTime ? threshold + 1 : 1)
      if (isTime) expect(comparison).toBe('GreaterThanThreshold')
      expect(lines.filter((line) => line.unit !== unitOf(line))).toStrictEqual([])
    },
  )
})

it('a payment that the provider refuses for its content is neither a failed create nor an error of the provider', async () => {
  const emitted = Map.groupBy(await emittedIn(refuseCreate), ({ name }) => name)

  expect(emitted.get('ProviderErrors')).toMatchObject([
    { dimensions: { operation: 'create_request' }, value: 0 },
  ])
  const refusal = { dimensions: { outcome: 'create_refused' } }
  expect(emitted.get('Payments')).toMatchObject([refusal, refusal])
})

it('an expiry without an answer for an hour is a failure of due work', async () => {
  const lines = await emittedIn(SCENES['provider-failing'] ?? refuseCreate)

  expect(lines).toContainEqual(expect.objectContaining({ name: 'DueWorkFailures', value: 1 }))
})

it('a sweep emits the number of clients that it queued, even zero', async () => {
  const emitted = await emittedIn(SCENES['sweep-not-run'] ?? refuseCreate)

  expect(
    emitted.filter(({ name }) => name === 'SweptClients').map(({ value }) => value),
  ).toStrictEqual([0, 1])
})

describe('the dashboard', () => {
  const shownMetrics = graphs.flatMap(({ metrics }) => metrics).filter(isOurs)
  const emitted = [...everyMetric()].map((metric) => metric.split(' '))

  const setsOf = (name: string) =>
    isMetric(name)
      ? METRICS[name].dimensionSets.map((set) => ['service', ...set].toSorted().join())
      : []

  it('shows no metric of ours that the code does not emit', () => {
    const isOfSet = ({ name, dimensions }: (typeof shownMetrics)[number]) =>
      setsOf(name).includes(Object.keys(dimensions).toSorted().join())
    expect(shownMetrics.filter((metric) => !isOfSet(metric))).toStrictEqual([])
    const emittedTexts = new Set(emitted.map((words) => words.toSorted().join(' ')))
    const words = shownMetrics.map(({ name, dimensions }) =>
      [name, ...Object.values(dimensions)].toSorted().join(' '),
    )

    expect(words.filter((metric) => !emittedTexts.has(metric))).toStrictEqual([])
  })

  it('searches only in dimension sets that the code emits', () => {
    const searches = graphs
      .flatMap(({ expressions }) => expressions)
      .filter((text) => text.startsWith('SEARCH('))
    const searchResults = searches.map((text) => {
      const [, schema = '', name = '', filters = ''] =
        /^SEARCH\('\{([^}]*)\} MetricName="(\w+)" (.*)', '/.exec(text) ?? []
      const [namespace, ...dimensions] = schema.split(',')
      const values = [...filters.matchAll(/\w+="([^"]*)"/g)].map(([, value = '']) => value)
      const isEmitted = emitted.some(
        (metric) => metric[0] === name && values.every((value) => metric.includes(value)),
      )
      return (
        namespace === METRIC_NAMESPACE &&
        setsOf(name).includes(dimensions.toSorted().join()) &&
        isEmitted
      )
    })

    expect(searchResults).toStrictEqual([true, true, true])
  })

  it('and the alarms together use every metric of the catalogue', () => {
    const used = new Set(
      [...shownMetrics, ...ownAlarms.flatMap(({ metrics }) => metrics)].map(({ name }) => name),
    )

    expect(Object.keys(METRICS).filter((name) => !used.has(name))).toStrictEqual([])
  })
})

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  ApiId: template.ofType('AWS::ApiGatewayV2::Api').map(({ logicalId }) => `<${logicalId}>`),
  FunctionName: template.each('AWS::Lambda::Function', 'FunctionName').map(String),
  // AWS Backup: "The vault name of copy jobs is that of their destination vault."
  BackupVaultName: synthesisedCopies(deployedStage(STAGE))
    .each('AWS::Backup::BackupVault', 'BackupVaultName')
    .map(String),
  RuleName: template.each('AWS::Events::Rule', 'Name').map(String),
  CertificateArn: template
    .ofType('AWS::CertificateManager::Certificate')
    .map(({ logicalId }) => `<${logicalId}>`),
  QueueName: template.each('AWS::SQS::Queue', 'QueueName').map(String),
  TableName: template.each('AWS::DynamoDB::GlobalTable', 'TableName').map(String),
  GlobalSecondaryIndexName: Object.keys(TABLE_SCHEMA.indexes),
  Operation: [
    'GetItem',
    'BatchGetItem',
    'Query',
    'PutItem',
    'UpdateItem',
    'DeleteItem',
    'TransactWriteItems',
  ],
}

const namespaces: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  AWS_METRICS

function mistakesIn({ namespace, name, dimensions }: Omit<TemplateMetric, 'periodSeconds'>) {
  const documented = namespaces[namespace]?.[name]
  if (!documented) return [`${namespace} ${name} is not documented`]
  const [required] = documented
  const isWrong = ([dimension, value]: readonly [string, string]) =>
    !documented.includes(dimension) || !ALLOWED[dimension]?.includes(value)
  return [
    ...(required === undefined || required in dimensions ? [] : [`${name} lacks ${required}`]),
    ...Object.entries(dimensions)
      .filter(isWrong)
      .map(([dimension, value]) => `${name}: ${dimension} ${value}`),
  ]
}

it('requests that API Gateway refused are counted by filters of its log', () => {
  const counted = template
    .all('AWS::Logs::MetricFilter')
    .map(({ FilterPattern, MetricTransformations }) => [
      Object([MetricTransformations].flat()[0]).MetricName,
      FilterPattern,
    ])

  const refused = '$.status = "429" && $.integration_status != "200"'
  expect(counted).toStrictEqual([
    ['gateway-prod-throttled', `{ ${refused} }`],
    ['gateway-prod-throttled-creates', `{ ${refused} && $.route = "POST /v1/payments" }`],
  ])
  expect(JSON.stringify(template.resources)).toContain('$context.integration.integrationStatus')
})

it('metrics of AWS on alarms and the dashboard are of resources in the template', () => {
  const foreign = [...alarms, ...graphs].flatMap(({ metrics }) =>
    metrics.filter((metric) => !isOurs(metric) && metric.namespace !== ACCESS_LOG_NAMESPACE),
  )

  expect(foreign.length).toBeGreaterThan(100)
  expect(foreign.flatMap(mistakesIn)).toStrictEqual([])
  const dimensions = { QueueName: 'gateway-prod-none' }
  expect(
    mistakesIn({ namespace: 'AWS/SQS', name: 'NumberOfMessagesDeleted', dimensions }),
  ).toHaveLength(1)
})

describe('alarms watch everything', () => {
  const watching = (name: string, dimension: string) =>
    alarms.flatMap(({ metrics }) =>
      metrics
        .filter((metric) => metric.name === name)
        .map((metric) => metric.dimensions[dimension] ?? 'itself'),
    )

  it('of the queues: messages in a dead-letter queue, and old messages in every other queue', () => {
    const namesOf = (isDead: boolean) =>
      template
        .all('AWS::SQS::Queue')
        .flatMap(({ QueueName, RedrivePolicy }) =>
          isDead === !RedrivePolicy ? [String(QueueName)] : [],
        )
    const [deadLetterQueues, otherQueues] = [namesOf(true), namesOf(false)]

    expect(deadLetterQueues.length).toBeGreaterThan(2)
    expect(watching('ApproximateNumberOfMessagesVisible', 'QueueName')).toStrictEqual(
      expect.arrayContaining(deadLetterQueues),
    )
    expect(watching('ApproximateAgeOfOldestMessage', 'QueueName').toSorted()).toStrictEqual(
      // Due work is queued anew each minute. Other alarms watch how late it is, which says more
      // than the age of a message.
      otherQueues.filter((name) => !name.includes('-due-')).toSorted(),
    )
  })

  it.each(['ReadThrottleEvents', 'WriteThrottleEvents'])(
    'of the table: %s of the table and of each index',
    (name) => {
      expect(watching(name, 'GlobalSecondaryIndexName')).toStrictEqual([
        'itself',
        ...Object.keys(TABLE_SCHEMA.indexes),
      ])
    },
  )

  it('of the account: the runs that the stage’s reservations leave to other functions', () => {
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
