import { describe, expect, it } from 'vitest'
import { numbered, searchExpression } from '../../../infra/stack/monitoring/dashboard/graph.ts'
import { graphsIn } from '../../support/alarm-template.ts'
import { synthesised } from '../../support/stack-template.ts'

const template = synthesised('prod')
const graphs = graphsIn(template)

describe('the dashboard', () => {
  it('is there in every stage, under the stage’s name', () => {
    for (const stage of ['dev', 'prod']) {
      expect(synthesised(stage).ofType('AWS::CloudWatch::Dashboard')).toMatchObject([
        { properties: { DashboardName: `gateway-${stage}` } },
      ])
    }
  })

  it('answers first whether money is moving', () => {
    expect(graphs.slice(0, 8).map(({ title }) => title)).toStrictEqual([
      'Payments (per minute)',
      'From paid to announced (milliseconds)',
      'Provider: calls that went wrong (percent)',
      'Provider: slowest of 100 calls (milliseconds)',
      'Oldest due work (minutes late)',
      'Suspense (new items per hour)',
      'Messages given up (messages)',
      'Settled (IDR net per day)',
    ])
    // Two lines of graphs below a status and a heading: a screen holds them.
    expect(Math.max(...graphs.slice(0, 8).map(({ y }) => y))).toBeLessThan(10)
  })

  it('says the unit of every graph, and shows something in each', () => {
    expect(graphs.filter(({ title }) => !/ \([^()]+\)$/.test(title))).toStrictEqual([])
    expect(graphs.filter(({ metrics, expressions }) => metrics.length + expressions.length === 0)).toStrictEqual([])
    expect(new Set(graphs.map(({ title }) => title)).size).toBe(graphs.length)
  })

  it('calculates only with metrics that its graph has', () => {
    const unknown = graphs.flatMap(({ expressions, metrics }) =>
      metrics.length === 0 ? expressions.filter((text) => !text.startsWith('SEARCH(')) : [],
    )

    expect(unknown).toStrictEqual([])
  })
})

it('a search names one exact set of dimensions and what is fixed of it', () => {
  const search = {
    namespace: 'PaymentGateway',
    name: 'Payments',
    dimensionNames: ['service', 'method', 'channel', 'outcome'],
    where: { service: 'gateway-prod', outcome: 'succeeded' },
    statistic: 'Sum',
  } as const

  expect(searchExpression(search, 5)).toBe(
    `SEARCH('{PaymentGateway,service,method,channel,outcome} MetricName="Payments" service="gateway-prod" outcome="succeeded"', 'Sum', 300)`,
  )
})

it('a formula among others in one graph keeps its names apart from theirs', () => {
  const metric = { namespace: 'n', name: 'm', dimensions: {}, statistic: 'Sum' } as const

  expect(numbered({ formula: 'm1 / (m1 + m10)', of: { m1: metric, m10: metric } }, 3)).toStrictEqual({
    formula: 'm1_3 / (m1_3 + m10_3)',
    of: { m1_3: metric, m10_3: metric },
  })
})
