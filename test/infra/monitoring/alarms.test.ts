import { describe, expect, it } from 'vitest'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { METRICS } from '../../../shared/metrics.ts'
import { COMPARISONS, formulaOf } from '../../support/alarm-evaluator.ts'
import { alarmsIn, graphsIn, tellingAlarms } from '../../support/alarm-template.ts'
import { matchesIn } from '../../support/document-blocks.ts'
import { synthesised } from '../../support/stack-template.ts'
import { NAMED } from '../../support/stage-options.ts'

const STAGE = 'prod'
const template = synthesised(STAGE)
const alarms = tellingAlarms(template, STAGE)
const pages = template.ofType('AWS::CloudWatch::CompositeAlarm')

it('stages have alarms and pages if they keep their data or name recipients, and none otherwise', () => {
  const named = alarmsIn(synthesised(NAMED), 'dev')

  expect(alarms.length).toBeGreaterThan(25)
  expect(template.ofType('AWS::CloudWatch::Alarm').length + pages.length).toBeLessThanOrEqual(65)
  expect(synthesised('dev').resources.filter(({ type }) => type.endsWith('Alarm'))).toStrictEqual(
    [],
  )
  expect(named.map(({ id }) => id)).toStrictEqual(
    expect.arrayContaining(
      // A stage without a domain has no certificate, and one without copies misses none.
      alarms
        .map(({ id }) => id)
        .filter((id) => id !== 'origin-certificate-ends' && id !== 'backup-missing'),
    ),
  )
  // Which two of these alarms read.
  expect(synthesised(NAMED).ofType('AWS::Logs::MetricFilter')).toHaveLength(2)
})

/** Whether an alarm's formula has no value while a metric has no data. */
function hasGaps({ expression = 'm0' }: (typeof alarms)[number]) {
  return /\b[a-z]/.test(expression.replaceAll(/FILL\(\w+, 0\)/g, ''))
}

describe('every alarm', () => {
  it('says how urgent it is, who suffers, and where to read on', () => {
    const said = /^\[(page|ticket)\] .+\. Who suffers: .+\. What to do: docs\/runbook\.md#(.+)$/
    const headings = alarms.map(({ description }) => said.exec(description)?.[2])

    expect(headings).toStrictEqual(
      alarms.map(({ id }) =>
        id
          .replace(/-(fast|slow|lasting)$/, '')
          .replace(/(?<=^(?:messages-given-up|audit-not-run))-.*/, ''),
      ),
    )
    // CloudWatch's limit.
    expect(alarms.filter(({ description }) => description.length > 1_024)).toStrictEqual([])
  })

  it('reads ten metrics at most, over one period, looks back no further than CloudWatch allows, and waits for late data', () => {
    const wrong = alarmsIn(template, STAGE).filter(
      ({ metrics, expression, evaluationPeriods, datapointsToAlarm }) => {
        const [seconds = 0, ...otherPeriods] = new Set(
          metrics.map(({ periodSeconds }) => periodSeconds),
        )
        // A week at most, and only a day where periods are shorter than an hour.
        const isTooFar = seconds * evaluationPeriods > (seconds < 3_600 ? 86_400 : 7 * 86_400)
        // FILL gives the newest minutes the value of no failure.
        const isStuck = seconds === 60 && expression && evaluationPeriods === datapointsToAlarm
        return metrics.length < 1 || metrics.length > 10 || otherPeriods[0] || isTooFar || isStuck
      },
    )

    expect(wrong).toStrictEqual([])
  })

  it('names no client, so that the number of alarms does not grow with the clients', () => {
    const dimensions = [...alarms, ...graphsIn(template)].flatMap(({ metrics }) =>
      metrics.flatMap((metric) => Object.keys(metric.dimensions)),
    )
    const declared = Object.values(METRICS).flatMap(({ dimensionSets }) => dimensionSets.flat())

    expect(
      [...dimensions, ...declared].filter((name) => /client|payment|endpoint/i.test(name)),
    ).toStrictEqual([])
  })

  it('takes missing data for a failure only where a schedule must run', () => {
    const breaching = alarms.filter(({ treatMissingData }) => treatMissingData === 'breaching')

    expect(breaching.map(({ id }) => id)).toStrictEqual([
      'due-work-not-running',
      'sweep-not-run',
      'sync-late',
      'audit-not-run-client',
      'audit-not-run-gateway',
      'backup-missing',
    ])
    // For a metric with gaps CloudWatch looks further back than the alarm says, by hours.
    expect(breaching.filter(hasGaps)).toStrictEqual([])
    expect(
      alarms.every(({ treatMissingData }) => /^(breaching|notBreaching)$/.test(treatMissingData)),
    ).toBe(true)
  })

  it('that adds conditions, or reads DynamoDB, has a value even if one of its metrics has no data', () => {
    const counting = alarms.filter(({ expression = '' }) => expression.includes(' + IF('))
    // CloudWatch always ignores missing data of DynamoDB: an alarm with gaps would keep its state.
    const onTable = alarms.filter(({ metrics }) =>
      metrics.some(({ namespace }) => namespace === 'AWS/DynamoDB'),
    )

    expect(counting.length).toBeGreaterThan(3)
    expect(onTable.map(({ id }) => id).toSorted()).toStrictEqual([
      'table-near-maximum',
      'table-throttled',
    ])
    expect([...counting, ...onTable].filter(hasGaps).map(({ id }) => id)).toStrictEqual([])
  })
})

it('pages contain each paging alarm once, and no other alarm', () => {
  const paging = template
    .ofType('AWS::CloudWatch::Alarm')
    .flatMap(({ logicalId, properties }) =>
      String(properties['AlarmDescription']).startsWith('[page]') ? [logicalId] : [],
    )
  const children = pages.map(({ properties }) =>
    matchesIn(String(properties['AlarmRule']), /ALARM\("<(\w+)>\.Arn"\)/g),
  )

  expect(children.flat().toSorted()).toStrictEqual(paging.toSorted())
  expect(paging.length).toBeGreaterThan(12)
  // CloudWatch's limits: a hundred alarms, 10,240 characters, of which an ARN and its word have at
  // most 130.
  expect(Math.max(...children.map(({ length }) => length))).toBeLessThan(78)
})

it('recipients of pages, such as a pager, get nothing else', () => {
  const subscriptions = synthesised(NAMED).all('AWS::SNS::Subscription')

  expect(
    subscriptions.map(({ Protocol, Endpoint, TopicArn }) => [TopicArn, Protocol, Endpoint]),
  ).toStrictEqual([
    ['<gateway-dev-alerts>', 'email', 'ops@gateway.example'],
    ['<gateway-dev-pages>', 'https', 'https://pager.example/sns'],
    ['<gateway-dev-pages>', 'email', 'on-call@gateway.example'],
  ])
})

describe('the dashboard', () => {
  const graphs = graphsIn(template)

  it('says the unit of every graph, shows data in each graph, and calculates only with metrics of the same graph', () => {
    expect(graphs.filter(({ title }) => !/ \([^()]+\)$/.test(title))).toStrictEqual([])
    const showsNothing = ({ metrics, expressions }: (typeof graphs)[number]) =>
      metrics.length === 0 &&
      (expressions.length === 0 || expressions.some((text) => !text.startsWith('SEARCH(')))
    expect(graphs.filter(showsNothing)).toStrictEqual([])
    expect(new Set(graphs.map(({ title }) => title)).size).toBe(graphs.length)
  })

  it('shows every alarm with its threshold', () => {
    const thresholds = graphs
      .filter(({ threshold }) => threshold !== undefined)
      .map(({ title, threshold }) => [title.replace(/ \(.*/, ''), threshold])

    expect(thresholds).toStrictEqual(alarms.map(({ id, threshold }) => [id, threshold]))
  })
})

/**
 * Goal: alarms with a formula go off at the failure that they watch for, and at nothing else.
 * Method: the formula of the synthesised template is calculated for one period as CloudWatch does,
 * and compared with the threshold. `failures.test.ts` has failures without these borders.
 */
type Values = Readonly<Record<string, number>>

/** Metrics without a value have no data. */
function isBad(id: string, values: Values) {
  const alarm = alarmsIn(template, STAGE).find((candidate) => candidate.id === id)
  if (!alarm) return undefined
  const value = formulaOf(alarm)(alarm.reads.map(({ name }) => values[name]))
  return COMPARISONS[alarm.comparison]?.(Number(value), alarm.threshold)
}

describe('alarms that calculate', () => {
  it.each<[string, string, Values]>([
    ['sync-late', 'the sync reads late', { runs: 1, lag: 900_001 }],
    ['quiet', 'an operator asked for quiet', { m0: 1 }],
    ['creates-answered-fast', 'eight of a hundred creates fail', { created: 92, failed: 8 }],
    ['creates-answered-fast', 'all five creates of a night crash', { crashed: 5 }],
    [
      'creates-answered-slow',
      'four of a hundred creates are throttled',
      { created: 120, throttled: 5 },
    ],
    ['webhooks-in-time-fast', 'nine of twenty webhooks are late', { announced: 20, soon: 11 }],
    ['settled-in-time-fast', 'three of twenty clients fail at first', { failed: 3, swept: 20 }],
    ['settled-in-time-fast-recent', 'all tries of three clients fail', { failed: 2, crashed: 1 }],
    ['settled-in-time-slow', 'one of thirty clients is given up', { dead: 1, swept: 30 }],
    ['creates-refused', 'all creates are refused for their content', { refused: 20 }],
    ['money-not-moving', 'no payment of twenty succeeds', { created: 20 }],
    ['api-errors', 'all five requests of a night fail', { errors: 5, requests: 5 }],
    ['api-errors-lasting', 'one in a hundred requests fails', { errors: 10, requests: 1_000 }],
    ['requests-refused', 'no caller can log in', { refused: 20, requests: 20 }],
    ['provider-failing', 'two of five calls fail', { calls_get_payment: 5, errors_get_payment: 2 }],
    [
      'deliveries-failing',
      'the worker reaches no merchant until the last tries',
      { abandoned: 17, failed: 2, succeeded: 1 },
    ],
    ['messages-waiting', 'a message of the sync waits', { sync: 2_401 }],
    [
      'requests-throttled',
      'a fifth of the creates is refused, of many requests',
      { refused: 25, requests: 900, creates: 25, served: 80 },
    ],
    ['requests-throttled-lasting', 'one in fifty is refused', { refused: 20, requests: 1_000 }],
    ['settlements-stuck', 'no worker takes the waiting clients', { waiting: 1 }],
    [
      'table-near-maximum',
      'all its units are used',
      { writes: 60 * deployedStage('prod').table.maxWriteUnits },
    ],
  ])('%s is on when %s', (id, _, values) => {
    expect(isBad(id, values)).toBe(true)
  })

  it.each<[string, string, Values]>([
    [
      'sync-late',
      'the sync runs, to its end, and in time',
      { runs: 1, incomplete: 0, lag: 900_000 },
    ],
    ['quiet', 'no operator asked for quiet', {}],
    ['creates-answered-fast', 'the few creates of a night fail', { failed: 4 }],
    ['creates-answered-fast', 'seven of a hundred creates fail', { created: 93, failed: 7 }],
    ['creates-answered-fast', 'payments are refused for their content', { refused: 50 }],
    ['webhooks-in-time-fast', 'some merchants are on retries', { announced: 100, soon: 60 }],
    ['settled-in-time-fast', 'two clients fail', { failed: 2, swept: 2 }],
    ['settled-in-time-fast', 'clients are tried again, long after the sweep', { failed: 9 }],
    ['settled-in-time-fast-recent', 'two clients are tried again', { failed: 2 }],
    ['settled-in-time-fast-recent', 'one try of seven fails', { failed: 10, settled: 60 }],
    ['settled-in-time-slow', 'one of forty clients is given up', { dead: 1, swept: 40 }],
    ['creates-refused', 'one merchant of several has a bug', { created: 3, refused: 27 }],
    ['money-not-moving', 'one payment of many succeeds', { created: 900, succeeded: 1 }],
    ['api-errors', 'five of many requests fail', { errors: 5, requests: 1_000 }],
    [
      'api-errors',
      'a channel is not activated, which operators were told',
      { errors: 20, told: 20, requests: 40 },
    ],
    ['api-errors-lasting', 'a few of many requests fail', { errors: 10, requests: 2_000 }],
    ['requests-throttled', 'few are refused', { refused: 19, creates: 19, requests: 20 }],
    ['requests-refused', 'a scanner looks for paths', { refused: 500, requests: 520, strays: 500 }],
    ['callbacks-missing', 'half of the callbacks come', { called: 5, succeeded: 10 }],
    ['callbacks-missing', 'due work finds two payments', { succeeded: 2 }],
    [
      'provider-failing',
      'the few calls of a night fail',
      { calls_get_request: 4, errors_get_request: 4 },
    ],
    ['deliveries-failing', 'one merchant is down', { failed: 80, succeeded: 20 }],
    ['messages-waiting', 'retries explain the age', { webhooks: 1_200, settlements: 4_500 }],
  ])('%s is off when %s', (id, _, values) => {
    expect(isBad(id, values)).toBe(false)
  })
})
