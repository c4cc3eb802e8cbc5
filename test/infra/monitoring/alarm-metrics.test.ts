import { describe, expect, it } from 'vitest'
import { METRIC_NAMESPACE, METRICS } from '../../../shared/metrics.ts'
import { alarmsIn, graphsIn, type TemplateMetric } from '../../support/alarm-template.ts'
import type { Emitted } from '../../support/emitted-by.ts'
import { synthesised } from '../../support/stack-template.ts'
import { MONEY_SCENES, OTHER_MONEY_SCENES } from './scenes/money-scenes.ts'
import { OTHER_PAYMENT_SCENES, PAYMENT_SCENES, refusedCreate } from './scenes/payment-scenes.ts'
import { WATCHED_STAGE, watchedWorld } from './scenes/watched-world.ts'
import { OTHER_WEBHOOK_SCENES, WEBHOOK_SCENES } from './scenes/webhook-scenes.ts'

/**
 * Goal: no alarm and no graph watches a metric that is never emitted. Method: for each alarm on a metric of ours, the bad
 * thing itself happens, to the real handlers with the deployed logger; what its log lines say to CloudWatch is held
 * against the alarm in the synthesised template, by namespace, name and every dimension.
 */
const STAGE = WATCHED_STAGE
const SCENES = { ...PAYMENT_SCENES, ...WEBHOOK_SCENES, ...MONEY_SCENES }
const OTHER_SCENES = { ...OTHER_PAYMENT_SCENES, ...OTHER_WEBHOOK_SCENES, ...OTHER_MONEY_SCENES }

const template = synthesised(STAGE)
const ours = alarmsIn(template, STAGE).filter(({ metrics }) =>
  metrics.some(({ namespace }) => namespace === METRIC_NAMESPACE),
)

type Identity = Pick<TemplateMetric, 'namespace' | 'name' | 'dimensions'>

const identityOf = ({ namespace, name, dimensions }: Identity): string =>
  JSON.stringify([
    namespace,
    name,
    ...Object.keys(dimensions)
      .toSorted()
      .map((key) => [key, dimensions[key]]),
  ])

const valuesOf = (emitted: readonly Emitted[], metric: Identity): readonly number[] =>
  emitted.filter((one) => identityOf(one) === identityOf(metric)).map(({ value }) => value)

const isName = (name: string): name is keyof typeof METRICS => name in METRICS
const unitOf = ({ name }: Identity) => (isName(name) ? METRICS[name].unit : undefined)

const emittedIn = async (scene: (typeof SCENES)[string] | undefined): Promise<readonly Emitted[]> => {
  if (!scene) throw new Error('there is no such scene')
  const world = watchedWorld()
  await scene(world)
  return world.emitted()
}

describe('alarms on metrics of our own', () => {
  it('have a scene each, and every scene is for one of them', () => {
    expect(Object.keys(SCENES).toSorted()).toStrictEqual(ours.map(({ id }) => id).toSorted())
  })

  it.each(ours.map((alarm) => [alarm.id, alarm] as const))(
    '%s: the code emits what it watches when it happens',
    async (id, { metrics: all, threshold, comparison }) => {
      const metrics = all.filter(({ namespace }) => namespace === METRIC_NAMESPACE)
      const emitted = await emittedIn(SCENES[id])

      const values = metrics.map((metric) => valuesOf(emitted, metric))
      expect(metrics.filter((_, at) => values[at]?.length === 0)).toStrictEqual([])
      // Counts add up over a period. A time must pass the threshold by itself.
      const isTime = metrics.every((metric) => unitOf(metric) === 'Milliseconds')
      expect(Math.max(...values.flat())).toBeGreaterThanOrEqual(isTime ? threshold + 1 : 1)
      if (isTime) expect(comparison).toBe('GreaterThanThreshold')
    },
  )

  it('are emitted in the unit of the catalogue', async () => {
    for (const scene of Object.values(SCENES)) {
      for (const metric of await emittedIn(scene))
        expect([metric.name, metric.unit]).toStrictEqual([metric.name, unitOf(metric)])
    }
  })
})

describe('what must not wake anybody', () => {
  const emittedValues = async (scene: (typeof SCENES)[string], name: string) =>
    (await emittedIn(scene)).filter((one) => one.name === name).map(({ dimensions, value }) => ({ dimensions, value }))

  it('a payment that is refused for what it is: neither a failed create nor an error of the provider', async () => {
    expect(await emittedValues(refusedCreate, 'ProviderErrors')).toStrictEqual([
      { dimensions: { service: 'gateway-prod', operation: 'create_request' }, value: 0 },
    ])
    const outcomes = await emittedValues(refusedCreate, 'Payments')
    expect(new Set(outcomes.map(({ dimensions }) => dimensions['outcome']))).toStrictEqual(new Set(['create_refused']))
  })
})

it('a sweep says how many clients it put on the queue, none as well', async () => {
  const emitted = await emittedIn(SCENES['sweep-not-run'])

  expect(emitted.filter(({ name }) => name === 'SweptClients').map(({ value }) => value)).toStrictEqual([0, 1])
})

describe('the dashboard', () => {
  const graphs = graphsIn(template)
  const shown = graphs.flatMap(({ metrics }) => metrics).filter(({ namespace }) => namespace === METRIC_NAMESPACE)
  const searches = graphs.flatMap(({ expressions }) => expressions).filter((text) => text.startsWith('SEARCH('))

  it('shows no metric of ours that the code does not emit', async () => {
    const scenes = [...Object.values(SCENES), ...Object.values(OTHER_SCENES)]
    const emitted = new Set((await Promise.all(scenes.map(emittedIn))).flat().map(identityOf))

    expect(shown.filter((metric) => !emitted.has(identityOf(metric)))).toStrictEqual([])
  })

  it('searches in dimension sets that are emitted', async () => {
    const scenes = [...Object.values(SCENES), ...Object.values(OTHER_SCENES)]
    const emitted = (await Promise.all(scenes.map(emittedIn))).flat()
    const found = searches.map((text) => {
      const [, schema = '', name = '', filters = ''] =
        /^SEARCH\('\{([^}]*)\} MetricName="(\w+)" (.*)', '/.exec(text) ?? []
      const [namespace, ...dimensions] = schema.split(',')
      const where = [...filters.matchAll(/(\w+)="([^"]*)"/g)]
      return emitted.filter(
        (one) =>
          one.namespace === namespace &&
          one.name === name &&
          JSON.stringify(Object.keys(one.dimensions).toSorted()) === JSON.stringify(dimensions.toSorted()) &&
          where.every(([, dimension = '', value]) => one.dimensions[dimension] === value),
      ).length
    })

    expect(searches).toHaveLength(3)
    expect(found.filter((count) => count === 0)).toStrictEqual([])
  })

  it('and the alarms together use every metric of the catalogue', () => {
    const used = new Set([...shown, ...ours.flatMap(({ metrics }) => metrics)].map(({ name }) => name))

    expect(Object.keys(METRICS).filter((name) => !used.has(name))).toStrictEqual([])
  })
})
