import { createFunctionName, functionNameOf, type Watched } from '../watched-stack.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import {
  awsMetric,
  countOf,
  type Formula,
  type Measure,
  orZero,
  throttledMetric,
} from './metric-ref.ts'

/** Can customers pay, and does the gateway see their payments? */
export function moneyInAlarms(watched: Watched): readonly AlarmSpec[] {
  return [
    {
      id: 'money-not-moving',
      page: 'page-money-in',
      summary: 'Payments are created, but not one of them succeeded for an hour.',
      impact: 'customers who paid and see nothing, and merchants who do not ship.',
      measure: {
        formula: `IF(${orZero('created')} >= 20, IF(${orZero('succeeded')} < 1, created, 0), 0)`,
        metrics: {
          created: watched.our('Payments', { outcome: 'created' }, 'Sum'),
          succeeded: watched.our('Payments', { outcome: 'succeeded' }, 'Sum'),
        },
      },
      unit: 'payments without a success',
      when: { above: 0, minutes: 60, periods: 1 },
      because: 'It needs at least twenty payments. Most customers pay within minutes.',
    },
    refusedCreates(watched),
    missingCallbacks(watched),
    ...apiErrors(watched),
    refusedRequests(watched),
    ...throttledRequests(watched),
  ]
}

function refusedCreates({ our }: Watched): AlarmSpec {
  const metrics = {
    created: our('Payments', { outcome: 'created' }, 'Sum'),
    failed: our('Payments', { outcome: 'create_failed' }, 'Sum'),
    refused: our('Payments', { outcome: 'create_refused' }, 'Sum'),
  }
  const tries = `(${Object.keys(metrics).map(orZero).join(' + ')})`
  return {
    id: 'creates-refused',
    page: 'page-money-in',
    summary: 'The provider rejects almost every payment that merchants create.',
    impact: 'merchants and their customers: almost none can begin to pay.',
    measure: { formula: `IF(${tries} >= 20, 100 * ${orZero('refused')} / ${tries}, 0)`, metrics },
    unit: 'percent of creates',
    when: { above: 90, minutes: 5, periods: 3 },
    because:
      'It needs at least twenty creates. One merchant’s mistake pages only if almost all ' +
      'creates are theirs.',
  }
}

function missingCallbacks({ our }: Watched): AlarmSpec {
  const missing = `(${orZero('succeeded')} - ${orZero('called')})`
  return {
    id: 'callbacks-missing',
    summary: 'For most successful payments no callback arrived.',
    impact:
      'customers, whose payment shows as pending until due work or the sync finds it, minutes ' +
      'later.',
    measure: {
      formula: `IF(${missing} >= 3, 100 * ${missing} / succeeded, 0)`,
      metrics: {
        succeeded: our('Payments', { outcome: 'succeeded' }, 'Sum'),
        called: our('SuccessHeard', { source: 'callback' }, 'Sum'),
      },
    },
    unit: 'percent of successes',
    when: { above: 50, minutes: 360, periods: 1 },
    because: 'It needs at least three missing callbacks. One or two are chance in a small stage.',
  }
}

function apiErrors(watched: Watched): readonly AlarmSpec[] {
  const errors = { heading: 'api-errors', unit: 'percent of requests' }
  return [
    {
      ...errors,
      id: 'api-errors',
      page: 'page-money-in',
      summary: 'More than one in twenty requests is answered with a server error.',
      impact: 'merchants, and the callbacks of the provider.',
      measure: serverErrors(watched, 5),
      when: { above: 5, minutes: 15, periods: 1 },
      because:
        'Five errors are enough, so that it works in a quiet night too. Throttled functions ' +
        'and timeouts count.',
    },
    {
      ...errors,
      id: 'api-errors-lasting',
      summary: 'For three hours some requests have failed with a server error.',
      impact: 'the merchants who call one route, such as a look-up.',
      measure: serverErrors(watched, 10),
      when: { above: 0.5, minutes: 60, periods: 3 },
      because:
        'A route with few callers never makes up one in twenty requests. It needs at least ' +
        'ten errors an hour.',
    },
  ]
}

/** Percent of requests. */
function serverErrors(watched: Watched, least: number): Measure {
  const { formula: failed, metrics } = failedRequests(watched)
  return {
    formula: `IF(${failed} >= ${least}, 100 * ${failed} / requests, 0)`,
    metrics: { ...metrics, requests: apiCount(watched, 'Count') },
  }
}

/**
 * A create answers 500 for a channel that is not activated, which operators were told: that is no
 * error.
 */
export function failedRequests(api: Pick<Watched, 'apiId' | 'our'>): Formula {
  return {
    formula: `(${orZero('errors')} - ${orZero('told')})`,
    metrics: {
      errors: apiCount(api, '5xx'),
      told: api.our('Payments', { outcome: 'create_not_activated' }, 'Sum'),
    },
  }
}

function apiCount({ apiId }: Pick<Watched, 'apiId'>, name: '4xx' | '5xx' | 'Count') {
  return awsMetric('AWS/ApiGateway', name, { ApiId: apiId }, 'Sum')
}

function refusedRequests(watched: Watched): AlarmSpec {
  return {
    id: 'requests-refused',
    page: 'page-money-in',
    summary: 'Nine in ten requests are refused.',
    impact: 'merchants and their customers: almost none is served.',
    measure: clientErrors(watched),
    unit: 'percent of requests',
    when: { above: 90, minutes: 5, periods: 3 },
    because:
      'It needs twenty requests. So many callers are never wrong at once: look at ' +
      'authentication, front and throttles.',
  }
}

/** Requests for unknown paths come from scanners, and do not count. */
function clientErrors(watched: Watched): Measure {
  const answersStrays = functionNameOf(watched, ({ trigger }) => trigger.kind === 'http-default')
  const onRoutes = `(requests - ${orZero('strays')})`
  return {
    formula: `IF(${onRoutes} >= 20, 100 * (${orZero('refused')} - ${orZero('strays')}) / ${onRoutes}, 0)`,
    metrics: {
      refused: apiCount(watched, '4xx'),
      requests: apiCount(watched, 'Count'),
      strays: awsMetric('AWS/Lambda', 'Invocations', { FunctionName: answersStrays }, 'Sum'),
    },
  }
}

/** A throttle's 429 is not in the gateway's log, and is any refusal in API Gateway's metrics. */
function throttledRequests(watched: Watched): readonly AlarmSpec[] {
  const both = {
    heading: 'requests-throttled',
    impact: 'merchants and their customers: these requests got 429, and no function ran.',
    unit: 'kinds of requests',
  }
  return [
    {
      ...both,
      id: 'requests-throttled',
      page: 'page-money-in',
      summary: 'API Gateway refuses more than a fifth of all requests, or of all creates.',
      measure: throttledShare(watched, 20),
      when: { atLeast: 1, minutes: 5, periods: 2 },
      because:
        'It needs twenty refusals in five minutes. A burst of seconds does not last so long.',
    },
    {
      ...both,
      id: 'requests-throttled-lasting',
      summary: 'API Gateway refuses more than 1 % of all requests, or of all creates.',
      measure: throttledShare(watched, 1),
      when: { atLeast: 1, minutes: 15, periods: 1 },
      because: 'It needs twenty refusals. Traffic has come near the throttle of the stage.',
    },
  ]
}

function throttledShare(watched: Watched, percent: number): Measure {
  const share = (refused: string, all: string) =>
    `${orZero(refused)} >= 20 && 100 * ${orZero(refused)} > ${percent} * ${all}`
  const FunctionName = createFunctionName(watched)
  return {
    formula: countOf([
      share('refused', orZero('requests')),
      share('creates', `(${orZero('creates')} + ${orZero('served')})`),
    ]),
    metrics: {
      refused: throttledMetric(watched.stage, 'throttled'),
      requests: apiCount(watched, 'Count'),
      creates: throttledMetric(watched.stage, 'throttled-creates'),
      served: awsMetric('AWS/Lambda', 'Invocations', { FunctionName }, 'Sum'),
    },
  }
}
