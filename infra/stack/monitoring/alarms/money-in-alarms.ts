import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, type Measure, orZero } from './metric-ref.ts'
import { functionNameOf, type Watched } from './watched.ts'

const counted = ({ apiId }: Watched, name: '4xx' | '5xx' | 'Count') =>
  awsMetric('AWS/ApiGateway', name, { ApiId: apiId }, 'Sum')

/** Percent of requests. The specification answers 500 where the provider refuses one payment for what it is: no error. */
const serverErrors = (watched: Watched, least: number): Measure => {
  const failed = `(${orZero('errors')} - ${orZero('refused')})`
  return {
    formula: `IF(${failed} >= ${least}, 100 * ${failed} / requests, 0)`,
    of: {
      errors: counted(watched, '5xx'),
      refused: watched.our('Payments', { outcome: 'create_refused' }, 'Sum'),
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

const api = (watched: Watched): readonly AlarmSpec[] => {
  const errors = {
    heading: 'api-errors',
    unit: 'percent of requests',
    look: [
      'filter message = "request.failed" | stats count() as n by route, status, code, error_name | sort n desc',
      'filter (level = "ERROR" or type = "platform.report" and record.status != "success") and @log like /-api-|receive-provider/ | stats count() as n by @log, message, error_name, record.status | sort n desc',
      "ask 1 'filter status >= 500 | stats count() as n by route, status, integration_error | sort n desc' \\\n  /aws/vendedlogs/http-api/gateway-prod",
      'What only the access log has never reached us. A 500 of the callback route with `callback.deferred` asks the provider to call again: see [provider-failing](#provider-failing).',
    ],
    act: [
      'After a release: [roll back](#roll-back). Creates only: [creates-answered](#creates-answered). Everything: [table-throttled](#table-throttled), [concurrency-near-limit](#concurrency-near-limit), or AWS’s health in the region.',
      'Timeouts of one merchant’s lists: limit that merchant. `write.contended` with `gave_up`: give the client more `ledger_parts` (`docs/operations.md`, section 5). Out of memory: raise `memoryMb` of the function. A secret or a setting: `npm run doctor -- --stage prod`.',
    ],
  }
  return [
    {
      ...errors,
      id: 'api-errors',
      page: 'page-money-in',
      summary: 'More than one in twenty requests is answered with a server error.',
      impact: 'merchants, and the provider’s callbacks.',
      measure: serverErrors(watched, 5),
      when: { above: 5, minutes: 15, periods: 1 },
      because: 'Of at least five errors, so that a quiet night counts too. Throttled functions and timeouts are in it.',
    },
    {
      ...errors,
      id: 'api-errors-lasting',
      summary: 'Hour after hour some requests are answered with a server error.',
      impact: 'the merchants who call one route, such as a look-up.',
      measure: serverErrors(watched, 10),
      when: { above: 0.5, minutes: 60, periods: 3 },
      because: 'A route with few callers never makes one in twenty. Of at least ten errors an hour.',
    },
  ]
}

const refused = (watched: Watched): AlarmSpec => ({
  id: 'requests-refused',
  page: 'page-money-in',
  summary: 'Nine in ten requests are refused.',
  impact: 'merchants and their customers: almost none is served.',
  measure: clientErrors(watched),
  unit: 'percent of requests',
  when: { above: 90, minutes: 5, periods: 3 },
  because: 'Of at least twenty. So many callers are not wrong at once: authentication, the front or a throttle is.',
  look: [
    "ask 1 'filter status >= 400 and status < 500 | stats count() as n, count_distinct(ip) as callers by status, route | sort n desc' \\\n  /aws/vendedlogs/http-api/gateway-prod",
    '401 of all: API keys are not found. 403 of all: the origin secret of the front and of the API differ. 429 without a line `request.completed`: a throttle of the stage or the account’s quota. 400: a release reads bodies differently. Silence here and 502 at the front: the front’s certificate. One caller: an old key, or a stranger.',
  ],
  act: [
    'After a release: [roll back](#roll-back). 403: set the origin secret right (`docs/operations.md`). 429: raise the throttle in the stage’s file and deploy. A stranger: nothing.',
  ],
})

const creates = ({ our }: Watched): readonly AlarmSpec[] => {
  const of = {
    created: our('Payments', { outcome: 'created' }, 'Sum'),
    failed: our('Payments', { outcome: 'create_failed' }, 'Sum'),
    refused: our('Payments', { outcome: 'create_refused' }, 'Sum'),
  }
  const tries = `(${Object.keys(of).map(orZero).join(' + ')})`
  return [
    {
      id: 'creates-refused',
      page: 'page-money-in',
      summary: 'The provider refuses almost every payment for what it is.',
      impact: 'merchants and their customers: almost none can begin to pay.',
      measure: { formula: `IF(${tries} >= 20, 100 * ${orZero('refused')} / ${tries}, 0)`, of },
      unit: 'percent of creates',
      when: { above: 90, minutes: 5, periods: 3 },
      because: 'Of at least twenty. One merchant’s mistake pages only while almost all creates are theirs.',
      look: [
        'filter message = "payment.create_refused" | stats count() as n by client_id, reason, method, channel | sort n desc',
      ],
      act: [
        'All merchants, after a release: [roll back](#roll-back). All, without one: the provider changed what it takes; open a ticket with it. One merchant: tell them the code, and limit them:',
        'npm run -s admin -- update-client --stage prod --client_id CLIENT_ID --rate_limit_per_second 5',
      ],
    },
  ]
}

const callbacks = ({ our }: Watched): AlarmSpec => {
  const missing = `(${orZero('succeeded')} - ${orZero('called')})`
  return {
    id: 'callbacks-missing',
    summary: 'Most payments that succeeded were not heard of by a callback.',
    impact: 'customers, whose payment shows as pending until due work or the sync finds it, minutes later.',
    measure: {
      formula: `IF(${missing} >= 3, 100 * ${missing} / succeeded, 0)`,
      of: {
        succeeded: our('Payments', { outcome: 'succeeded' }, 'Sum'),
        called: our('SuccessHeard', { source: 'callback' }, 'Sum'),
      },
    },
    unit: 'percent of successes',
    when: { above: 50, minutes: 360, periods: 1 },
    because: 'Of at least three missing ones: one or two are chance in a small stage.',
    look: [
      'filter message = "payment.succeeded" or outcomes like /payment.succeeded/ | stats count() as n by source, bin(10m)',
      'filter message in ["callback.refused", "callback.deferred"] or outcomes like /callback.ignored/ | stats count() as n by message, outcomes, outcome | sort n desc',
      'ask 1 \'filter route = "POST /callbacks/xendit" | stats count() as n by status, ip | sort n desc\' \\\n  /aws/vendedlogs/http-api/gateway-prod',
    ],
    act: [
      '401: compare the token in the provider’s dashboard with `callback_tokens` in the secret `gateway/prod/provider-callback` and add the one that is missing. Deferred: [provider-failing](#provider-failing). None at all: compare the URL there with the stack’s `ApiUrl`. `npm run doctor -- --stage prod` says what our side answers.',
      'Nothing is lost: the sync and due work find every payment. Strangers’ calls with a wrong token need nothing.',
    ],
  }
}

/** Can customers pay, and do we see it? The API as its callers see it, creates, and what the provider tells us. */
export const moneyInAlarms = (watched: Watched): readonly AlarmSpec[] => [
  {
    id: 'money-not-moving',
    page: 'page-money-in',
    summary: 'Payments are created, but not one of them succeeded for an hour.',
    impact: 'customers who paid and see nothing, and merchants who do not ship.',
    measure: {
      formula: `IF(${orZero('created')} >= 20, IF(${orZero('succeeded')} < 1, created, 0), 0)`,
      of: {
        created: watched.our('Payments', { outcome: 'created' }, 'Sum'),
        succeeded: watched.our('Payments', { outcome: 'succeeded' }, 'Sum'),
      },
    },
    unit: 'payments without a success',
    when: { above: 0, minutes: 60, periods: 1 },
    because: 'Of at least twenty payments. Most customers pay within minutes.',
    look: [
      'filter message in ["callback.refused", "callback.deferred", "payment.succeeded"] or outcomes like /callback.ignored|payment.succeeded/ | stats count() as n by message, outcomes, outcome, bin(10m)',
      'No callbacks: the URL or the token at the provider. Deferred ones: [provider-failing](#provider-failing). Ask about one payment of which a customer says that it is paid:',
      'npm run -s admin -- refresh-payment --stage prod --payment_id PAYMENT_ID',
    ],
    act: [
      'Repair what the logs name. Lost callbacks need no replay: the sync finds what was paid. Afterwards read `list-suspense`: money that arrived after an expiry is there.',
    ],
  },
  ...creates(watched),
  callbacks(watched),
  ...api(watched),
  refused(watched),
]
