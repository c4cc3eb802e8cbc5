import { describe, expect, it } from 'vitest'
import { LONGEST_LOOK_BACK_MINUTES } from '../../../infra/stack/monitoring/alarms/alarm-spec.ts'
import { METRICS } from '../../../shared/metrics.ts'
import { alarmsIn, graphsIn, tellingAlarms } from '../../support/alarm-template.ts'
import { synthesised } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'

const STAGE = 'prod'
const template = synthesised(STAGE)
const alarms = tellingAlarms(template, STAGE)
const pages = template.ofType('AWS::CloudWatch::CompositeAlarm')

it('stages have alarms and pages when they must not be lost or name recipients, and none otherwise', () => {
  const told = alarmsIn(synthesised(stageWith({ alarmRecipients: ['ops@gateway.example'] })), 'dev')

  expect(alarms.length).toBeGreaterThan(25)
  expect(template.ofType('AWS::CloudWatch::Alarm').length + pages.length).toBeLessThanOrEqual(50)
  expect(synthesised('dev').resources.filter(({ type }) => type.endsWith('Alarm'))).toStrictEqual([])
  expect(told.map(({ id }) => id)).toStrictEqual(expect.arrayContaining(alarms.map(({ id }) => id)))
})

/** Some metric of its formula has no value for a silent period. */
const hasGaps = ({ expression = 'm0' }: (typeof alarms)[number]): boolean =>
  /\b[a-z]/.test(expression.replaceAll(/FILL\(\w+, 0\)/g, ''))

describe('every alarm', () => {
  it('says how urgent it is, who suffers, and where to read on', () => {
    const pattern = (id: string) =>
      new RegExp(
        `^\\[(page|ticket)\\] .+\\. Who suffers: .+\\. What to do: docs/runbook\\.md#${id.replace(/-(fast|slow|lasting)$/, '')}$`,
      )

    expect(alarms.filter(({ id, description }) => !pattern(id).test(description))).toStrictEqual([])
    // CloudWatch's limit.
    expect(alarms.filter(({ description }) => description.length > 1_024)).toStrictEqual([])
  })

  it('looks back no further than CloudWatch allows', () => {
    const tooFar = alarms.filter(({ metrics, evaluationPeriods }) => {
      const minutes = Math.max(...metrics.map(({ periodSeconds }) => periodSeconds)) / 60
      const { shortPeriods, hourlyPeriods } = LONGEST_LOOK_BACK_MINUTES
      return minutes * evaluationPeriods > (minutes < 60 ? shortPeriods : hourlyPeriods)
    })

    expect(tooFar).toStrictEqual([])
  })

  it('reads ten metrics at most, over one period', () => {
    expect(alarms.filter(({ metrics }) => metrics.length < 1 || metrics.length > 10)).toStrictEqual([])
    expect(
      alarms.filter(({ metrics }) => new Set(metrics.map(({ periodSeconds }) => periodSeconds)).size > 1),
    ).toStrictEqual([])
  })

  it('has no client in it, so that their number does not grow with them', () => {
    const dimensions = [...alarms, ...graphsIn(template)].flatMap(({ metrics }) =>
      metrics.flatMap((metric) => Object.keys(metric.dimensions)),
    )
    const declared = Object.values(METRICS).flatMap(({ dimensionSets }) => dimensionSets.flat())

    expect([...dimensions, ...declared].filter((name) => /client|payment|endpoint/i.test(name))).toStrictEqual([])
  })

  it('takes silence for a failure only where something must run by itself', () => {
    const breaching = alarms.filter(({ treatMissingData }) => treatMissingData === 'breaching')

    expect(breaching.map(({ id }) => id)).toStrictEqual(['due-work-not-running', 'sweep-not-run', 'sync-behind'])
    // A metric with gaps is looked at further back than the alarm says, hours too long.
    expect(breaching.filter(hasGaps)).toStrictEqual([])
    expect(alarms.every(({ treatMissingData }) => /^(breaching|notBreaching)$/.test(treatMissingData))).toBe(true)
  })

  it('that counts conditions has a value while one of its metrics is silent', () => {
    const counting = alarms.filter(({ expression = '' }) => expression.includes(' + IF('))

    expect(counting.length).toBeGreaterThan(3)
    expect(counting.filter(hasGaps).map(({ id }) => id)).toStrictEqual([])
  })

  it('on metrics of DynamoDB cannot stick after silence, which CloudWatch ignores there whatever an alarm says', () => {
    const onTable = alarms.filter(({ metrics }) => metrics.some(({ namespace }) => namespace === 'AWS/DynamoDB'))

    expect(onTable.map(({ id }) => id).toSorted()).toStrictEqual(['table-near-maximum', 'table-throttled'])
    expect(onTable.filter(hasGaps).map(({ id }) => id)).toStrictEqual([])
  })
})

it('pages stand for every alarm that pages, each in one of them, and for no other', () => {
  const paging = template
    .ofType('AWS::CloudWatch::Alarm')
    .flatMap(({ logicalId, properties }) =>
      String(properties['AlarmDescription']).startsWith('[page]') ? [logicalId] : [],
    )
  const children = pages.map(({ properties }) =>
    [...String(properties['AlarmRule']).matchAll(/ALARM\("<(\w+)>\.Arn"\)/g)].map(([, id = '']) => id),
  )

  expect(children.flat().toSorted()).toStrictEqual(paging.toSorted())
  expect(paging.length).toBeGreaterThan(12)
  // CloudWatch's limits: a hundred alarms, 10,240 characters, of which an ARN and its word have at most 130.
  expect(Math.max(...children.map(({ length }) => length))).toBeLessThan(78)
})

it('recipients of pages are told of nothing else, at a pager’s own address too', () => {
  const recipients = {
    alarmRecipients: ['ops@gateway.example'],
    pageRecipients: ['https://pager.example/sns', 'on-call@gateway.example'],
  }
  const subscriptions = synthesised(stageWith(recipients)).all('AWS::SNS::Subscription')

  expect(subscriptions.map(({ Protocol, Endpoint, TopicArn }) => [TopicArn, Protocol, Endpoint])).toStrictEqual([
    ['<gateway-dev-alerts>', 'email', 'ops@gateway.example'],
    ['<gateway-dev-pages>', 'https', 'https://pager.example/sns'],
    ['<gateway-dev-pages>', 'email', 'on-call@gateway.example'],
  ])
})

describe('the dashboard', () => {
  const graphs = graphsIn(template)

  it('says the unit of every graph, and shows something in each', () => {
    expect(graphs.filter(({ title }) => !/ \([^()]+\)$/.test(title))).toStrictEqual([])
    expect(graphs.filter(({ metrics, expressions }) => metrics.length + expressions.length === 0)).toStrictEqual([])
    expect(new Set(graphs.map(({ title }) => title)).size).toBe(graphs.length)
  })

  it('shows every alarm with its threshold', () => {
    const shown = graphs
      .filter(({ threshold }) => threshold !== undefined)
      .map(({ title, threshold }) => [title.replace(/ \(.*/, ''), threshold])

    expect(shown).toStrictEqual(alarms.map(({ id, threshold }) => [id, threshold]))
  })

  it('calculates only with metrics that its graph has', () => {
    const unknown = graphs.flatMap(({ expressions, metrics }) =>
      metrics.length === 0 ? expressions.filter((text) => !text.startsWith('SEARCH(')) : [],
    )

    expect(unknown).toStrictEqual([])
  })
})
