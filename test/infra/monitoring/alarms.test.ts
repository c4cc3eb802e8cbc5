import { describe, expect, it } from 'vitest'
import { LONGEST_LOOK_BACK_MINUTES } from '../../../infra/stack/monitoring/alarms/alarm-spec.ts'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { METRICS } from '../../../shared/metrics.ts'
import { alarmsIn, graphsIn, tellingAlarms } from '../../support/alarm-template.ts'
import { synthesised } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'

const STAGE = 'prod'
const template = synthesised(STAGE)
const alarms = tellingAlarms(template, STAGE)
const pages = template.ofType('AWS::CloudWatch::CompositeAlarm')

const TOLD = stageWith({ alarmRecipients: ['ops@gateway.example', 'on-call@gateway.example'] })
const alarmsOfStage = (stage: Parameters<typeof synthesised>[0], name: string) => alarmsIn(synthesised(stage), name)

describe('stages', () => {
  it('have alarms and pages when they must not be lost or name recipients, and none otherwise', () => {
    expect(alarms.length).toBeGreaterThan(25)
    expect(template.ofType('AWS::CloudWatch::Alarm').length + pages.length).toBeLessThanOrEqual(50)
    expect(alarmsOfStage('dev', 'dev')).toStrictEqual([])
    expect(synthesised('dev').ofType('AWS::CloudWatch::CompositeAlarm')).toStrictEqual([])
    expect(alarmsOfStage(TOLD, 'dev').map(({ id }) => id)).toStrictEqual(
      expect.arrayContaining(alarms.map(({ id }) => id)),
    )
  })
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

describe('pages', () => {
  const logicalId = new Map(
    template
      .ofType('AWS::CloudWatch::Alarm')
      .map(({ logicalId: id, properties }) => [String(properties['AlarmName']), id]),
  )
  const idOf = (alarm: string) => logicalId.get(`gateway-prod-${alarm}`)
  const childrenOf = (rule: unknown) => [...String(rule).matchAll(/ALARM\("<(\w+)>\.Arn"\)/g)].map(([, id = '']) => id)

  it('stand for every alarm that pages, each in one of them, and for no other', () => {
    const paging = alarms.filter(({ description }) => description.startsWith('[page]')).map(({ id }) => idOf(id) ?? id)
    const children = pages.map(({ properties }) => childrenOf(properties['AlarmRule']))

    expect(children.flat().toSorted()).toStrictEqual(paging.toSorted())
    expect(paging.length).toBeGreaterThan(12)
    // CloudWatch's limits: a hundred alarms, 10,240 characters, of which an ARN and its word have at most 130.
    expect(Math.max(...children.map(({ length }) => length))).toBeLessThan(78)
  })
})

describe('recipients of a stage', () => {
  const subscriptions = (options: Partial<DeployedStage>) =>
    synthesised({ ...deployedStage('dev'), ...options })
      .ofType('AWS::SNS::Subscription')
      .map(({ properties: { Protocol, Endpoint, TopicArn } }) => [TopicArn, Protocol, Endpoint])

  it('are each asked by e-mail, for alerts and for pages while no others are named for those', () => {
    expect(subscriptions({ alarmRecipients: ['ops@gateway.example', 'on-call@gateway.example'] })).toStrictEqual([
      ['<gateway-dev-alerts>', 'email', 'ops@gateway.example'],
      ['<gateway-dev-alerts>', 'email', 'on-call@gateway.example'],
      ['<gateway-dev-pages>', 'email', 'ops@gateway.example'],
      ['<gateway-dev-pages>', 'email', 'on-call@gateway.example'],
    ])
  })

  it('of pages are told of nothing else, at a pager’s own address too', () => {
    const pageRecipients = ['https://pager.example/sns', 'on-call@gateway.example']

    expect(subscriptions({ alarmRecipients: ['ops@gateway.example'], pageRecipients })).toStrictEqual([
      ['<gateway-dev-alerts>', 'email', 'ops@gateway.example'],
      ['<gateway-dev-pages>', 'https', 'https://pager.example/sns'],
      ['<gateway-dev-pages>', 'email', 'on-call@gateway.example'],
    ])
  })
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
