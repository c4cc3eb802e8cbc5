import { describe, expect, it } from 'vitest'
import { METRIC_NAMESPACE, METRICS } from '../../../shared/metrics.ts'
import { everyMetric } from '../../bench/own-metrics.ts'
import { alarmsIn, graphsIn, type TemplateMetric } from '../../support/alarm-template.ts'
import { synthesised } from '../../support/stack-template.ts'
import { MONEY_SCENES } from './scenes/money-scenes.ts'
import { PAYMENT_SCENES, refusedCreate, WEBHOOK_SCENES } from './scenes/payment-scenes.ts'
import { emittedIn, WATCHED_STAGE } from './scenes/watched-world.ts'

/**
 * Goal: no alarm and no graph watches a metric that is never emitted. Method: for each alarm on a metric of ours, the bad
 * thing itself happens, to the real handlers with the deployed logger; what its log lines say to CloudWatch is held
 * against the alarm in the synthesised template, by namespace, name and every dimension. Graphs are held against all
 * that the catalogue lets the code emit.
 */
const STAGE = WATCHED_STAGE
const SCENES = { ...PAYMENT_SCENES, ...WEBHOOK_SCENES, ...MONEY_SCENES }

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

const isName = (name: string): name is keyof typeof METRICS => name in METRICS
const unitOf = ({ name }: Pick<Identity, 'name'>) => (isName(name) ? METRICS[name].unit : undefined)

describe('alarms on metrics of our own', () => {
  it('have a scene each, and every scene is for one of them', () => {
    expect(Object.keys(SCENES).toSorted()).toStrictEqual(ours.map(({ id }) => id).toSorted())
  })

  it.each(ours.map((alarm) => [alarm.id, alarm] as const))(
    '%s: the code emits what it watches when it happens',
    async (id, { metrics: all, threshold, comparison }) => {
      const metrics = all.filter(({ namespace }) => namespace === METRIC_NAMESPACE)
      const emitted = Map.groupBy(await emittedIn(SCENES[id] ?? refusedCreate), identityOf)

      const values = metrics.map((metric) => (emitted.get(identityOf(metric)) ?? []).map(({ value }) => value))
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

it('a payment that is refused for what it is is neither a failed create nor an error of the provider', async () => {
  const emitted = Map.groupBy(await emittedIn(refusedCreate), ({ name }) => name)

  expect(emitted.get('ProviderErrors')).toMatchObject([{ dimensions: { operation: 'create_request' }, value: 0 }])
  const outcomes = emitted.get('Payments')?.map(({ dimensions }) => dimensions['outcome'])
  expect(new Set(outcomes)).toStrictEqual(new Set(['create_refused']))
})

it('a sweep says how many clients it put on the queue, none as well', async () => {
  const emitted = await emittedIn(MONEY_SCENES['sweep-not-run'] ?? refusedCreate)

  expect(emitted.filter(({ name }) => name === 'SweptClients').map(({ value }) => value)).toStrictEqual([0, 1])
})

describe('the dashboard', () => {
  const graphs = graphsIn(template)
  const shown = graphs.flatMap(({ metrics }) => metrics).filter(({ namespace }) => namespace === METRIC_NAMESPACE)
  const words = (name: string, dimensions: readonly string[]) => [name, ...dimensions.toSorted()].join(' ')
  const emitted = [...everyMetric()].map((metric) => metric.split(' '))
  const known = new Set(emitted.map(([name = '', ...dimensions]) => words(name, dimensions)))

  it('shows no metric of ours that the code does not emit', () => {
    const unknown = shown.filter(({ name, dimensions }) => !known.has(words(name, Object.values(dimensions))))

    expect(unknown).toStrictEqual([])
  })

  it('searches in dimension sets that are emitted', () => {
    const searches = graphs.flatMap(({ expressions }) => expressions).filter((text) => text.startsWith('SEARCH('))
    const found = searches.map((text) => {
      const [, schema = '', name = '', filters = ''] =
        /^SEARCH\('\{([^}]*)\} MetricName="(\w+)" (.*)', '/.exec(text) ?? []
      const [namespace, ...dimensions] = schema.split(',')
      const sets = isName(name) ? METRICS[name].dimensionSets.map((set) => ['service', ...set].toSorted().join()) : []
      const values = [...filters.matchAll(/\w+="([^"]*)"/g)].map(([, value = '']) => value)
      const isEmitted = emitted.some((one) => one[0] === name && values.every((value) => one.includes(value)))
      return namespace === METRIC_NAMESPACE && sets.includes(dimensions.toSorted().join()) && isEmitted
    })

    expect(found).toStrictEqual([true, true, true])
  })

  it('and the alarms together use every metric of the catalogue', () => {
    const used = new Set([...shown, ...ours.flatMap(({ metrics }) => metrics)].map(({ name }) => name))

    expect(Object.keys(METRICS).filter((name) => !used.has(name))).toStrictEqual([])
  })
})
