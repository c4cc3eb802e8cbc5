import { MANIFEST } from '../../functions/manifest.ts'
import { PROVIDER_OPERATIONS } from '../../infra/stack/monitoring/alarms/provider-alarms.ts'
import { isMetric, LOG_METRICS, METRICS } from '../../shared/metrics.ts'
import type { NewsSource } from '../../shared/payment/payment.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { SUSPENSE_CAUSES } from '../../shared/suspense/suspense.ts'
import { BENCH_STAGE } from './metered-world.ts'

const SOURCES = {
  create: 0,
  callback: 0,
  due_work: 0,
  cancel: 0,
  operator: 0,
  sync: 0,
} satisfies Record<NewsSource, 0>

/**
 * Every metric of our own that the code may write to while one channel is in use, as CloudWatch
 * bills them: a name with the values of one set of dimensions. From the catalogue, so that an
 * outcome or a metric that is new is counted by itself.
 */
export function everyMetric() {
  return new Set(
    Object.entries(LOG_METRICS).flatMap(([code, measured]) =>
      Object.keys(measured).flatMap((metric) => metricsIn(metric, code.split('.')[1])),
    ),
  )
}

/**
 * The channel of the measured payments. Every other channel of the table has as many metrics; all
 * wallets outside the table count as one channel.
 */
const CHANNEL = ['virtual_account', 'BCA']

const FIELD_VALUES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  '': [[]],
  'method channel': [CHANNEL],
  source: each(Object.keys(SOURCES)),
  kind: each(Object.keys(SUSPENSE_CAUSES)),
  'kind cause': Object.entries(SUSPENSE_CAUSES).flatMap(([kind, causes]) => each(causes, [kind])),
  operation: each(PROVIDER_OPERATIONS),
  audit_of: each(['client', 'gateway']),
  triggered_by: each(
    Object.keys({ auto: 0, manual: 0 } satisfies Record<Settlement['triggeredBy'], 0>),
  ),
  function: MANIFEST.filter(({ trigger: { kind } }) => kind === 'queue').map(({ name }) => [
    `${BENCH_STAGE}-${name}`,
  ]),
}

function metricsIn(metric: string, outcome = '') {
  return (isMetric(metric) ? METRICS[metric].dimensionSets : []).flatMap(
    (set: readonly string[]) => {
      const fields = set.filter((name) => name !== 'outcome')
      const values = FIELD_VALUES[fields.join(' ')]
      if (!values) throw new Error(`FIELD_VALUES has no values of ${fields.join(' ')}`)
      return values.map((some) => {
        const dimensions = set.map((name) =>
          name === 'outcome' ? outcome : some[fields.indexOf(name)],
        )
        return [metric, BENCH_STAGE, ...dimensions].join(' ')
      })
    },
  )
}

function each(values: readonly string[], before: readonly string[] = []) {
  return values.map((value) => [...before, value])
}

export function metricsByChannel() {
  return [...everyMetric()].filter((metric) => metric.includes(CHANNEL.join(' '))).length
}
