import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, type Measure, OVERALL, orZero } from './metric-ref.ts'
import { functionNameOf, type Watched } from './watched.ts'

/** Answered 500 by the specification, though nothing is broken: the provider refused one payment for what it is. */
const refusals = ({ our }: Watched) => our('Payments', { outcome: 'create_refused' }, 'Sum')

const counted = ({ apiId }: Watched, name: '4xx' | '5xx' | 'Count') =>
  awsMetric('AWS/ApiGateway', name, { ApiId: apiId }, 'Sum')

const serverErrors = (watched: Watched): Measure => ({
  formula: `IF(requests >= 20, 100 * (${orZero('errors')} - ${orZero('refused')}) / requests, 0)`,
  of: { errors: counted(watched, '5xx'), refused: refusals(watched), requests: counted(watched, 'Count') },
})

const ownFailures = (watched: Watched): Measure => {
  const failed = `(${orZero('failures')} - ${orZero('refused')})`
  return {
    formula: `IF(${failed} >= 5, 100 * ${failed} / requests, 0)`,
    of: {
      failures: watched.our('RequestFailures', OVERALL, 'Sum'),
      refused: refusals(watched),
      requests: counted(watched, 'Count'),
    },
  }
}

/** What asks for paths that do not exist is a scanner: it is neither refused nor counted here. */
const clientErrors = (watched: Watched): Measure => {
  const answersStrays = functionNameOf(watched, ({ trigger }) => trigger.kind === 'http-default')
  const asked = `(requests - ${orZero('strays')})`
  return {
    formula: `IF(${asked} >= 20, 100 * (${orZero('refused')} - ${orZero('strays')}) / ${asked}, 0)`,
    of: {
      refused: counted(watched, '4xx'),
      requests: counted(watched, 'Count'),
      strays: awsMetric('AWS/Lambda', 'Invocations', { FunctionName: answersStrays }, 'Sum'),
    },
  }
}

const failing = (watched: Watched): readonly AlarmSpec[] => [
  {
    id: 'api-errors',
    severity: 'page',
    summary: 'More than one in twenty requests is answered with a server error.',
    impact: 'merchants, and the provider’s callbacks.',
    measure: serverErrors(watched),
    when: { above: 5, minutes: 5, periods: 2, outOf: 3 },
    because: 'Percent of at least twenty requests. Includes what never reached us: throttled functions and timeouts.',
  },
  {
    id: 'requests-failing',
    severity: 'page',
    summary: 'Five requests or more failed in our own code, and more than one in twenty.',
    impact: 'merchants, and the provider’s callbacks.',
    measure: ownFailures(watched),
    when: { above: 5, minutes: 15, periods: 1 },
    because: 'Percent over a quarter of an hour: at night twenty requests in five minutes may never come together.',
  },
]

/** The HTTP API as its callers see it, whoever is to blame. */
export const apiAlarms = (watched: Watched): readonly AlarmSpec[] => [
  ...failing(watched),
  {
    id: 'requests-refused',
    severity: 'page',
    summary: 'Nine in ten requests are refused.',
    impact: 'merchants and their customers: next to nobody is served.',
    measure: clientErrors(watched),
    when: { above: 90, minutes: 5, periods: 3 },
    because:
      'Percent of at least twenty. So many callers are not wrong at once: authentication, the origin secret or a throttle is.',
  },
  {
    id: 'api-slow',
    severity: 'ticket',
    summary: 'One request in a hundred takes more than ten seconds.',
    impact: 'merchants and customers, who wait for a payment to be created.',
    measure: awsMetric('AWS/ApiGateway', 'Latency', { ApiId: watched.apiId }, 'p99'),
    when: { above: 10_000, minutes: 5, periods: 3 },
    because: 'Milliseconds at the 99th percentile. A create waits for the provider, 12 s at most; reads take far less.',
  },
]
