import { HOUR_MS, MINUTE_MS } from '../../../../shared/time.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from '../../triggers/queue-settings.ts'
import type { AlarmSpec, Page } from './alarm-spec.ts'
import { awsMetric, type Measure, OVERALL, orZero } from './metric-ref.ts'
import { functionNameOf, type Watched } from './watched.ts'

/** So fast the budget of thirty days is used up, as a multiple of the rate that would use it up in just that time. */
type Burn = { readonly minutes: number; readonly rate: number; readonly percent: Measure }

/** What merchants are promised, percent over thirty days, and the two rates of its use that ask for an action. */
type ServiceLevel = Pick<AlarmSpec, 'impact' | 'look' | 'act'> & {
  readonly heading: string
  readonly promise: string
  readonly objective: number
  readonly page: Page['id']
  readonly fast: Burn
  readonly slow: Burn
}

const HOUR_MINUTES = HOUR_MS / MINUTE_MS
/** The usual pair: 2 % of the month's budget within an hour, 5 % within six. */
const FAST = { minutes: HOUR_MINUTES, rate: 14.4 }
const SLOW = { minutes: 6 * HOUR_MINUTES, rate: 6 }
/** What happens once a day: 10 % of the month's budget within that day. */
const DAILY = { minutes: 24 * HOUR_MINUTES, rate: 3 }

/** Percent of bad ones, once there are so many: at night one of three is no rate. */
const percentOf = (bad: string, all: string, least: number): string =>
  `IF(${bad} >= ${least}, 100 * ${bad} / ${all}, 0)`

const burnAlarms = ({ promise, objective, page, fast, slow, ...level }: ServiceLevel): readonly AlarmSpec[] => {
  const alarm = (speed: 'fast' | 'slow', { minutes, rate, percent }: Burn): AlarmSpec => ({
    ...level,
    id: `${level.heading}-${speed}`,
    ...(speed === 'fast' && { page }),
    summary: `The service level breaks ${speed === 'fast' ? 'now' : 'slowly'}: ${promise}.`,
    measure: percent,
    unit: 'percent bad',
    when: { above: Math.round(rate * (100 - objective) * 100) / 100, minutes, periods: 1 },
    because: `${objective} % are promised over thirty days. At ${rate} times the rate that uses this up in a month.`,
  })
  return [alarm('fast', fast), alarm('slow', slow)]
}

/** What the provider refuses for what a payment is, is answered. A create that broke off or never began is not. */
const creates = (watched: Watched): ServiceLevel => {
  const { our } = watched
  const FunctionName = functionNameOf(
    watched,
    ({ trigger }) => trigger.kind === 'http' && trigger.method === 'POST' && trigger.path === '/v1/payments',
  )
  const bad = `(${['failed', 'crashed', 'throttled'].map(orZero).join(' + ')})`
  const percent: Measure = {
    formula: percentOf(bad, `(${bad} + ${orZero('created')} + ${orZero('refused')})`, 5),
    of: {
      created: our('Payments', { outcome: 'created' }, 'Sum'),
      refused: our('Payments', { outcome: 'create_refused' }, 'Sum'),
      failed: our('Payments', { outcome: 'create_failed' }, 'Sum'),
      crashed: awsMetric('AWS/Lambda', 'Errors', { FunctionName }, 'Sum'),
      throttled: awsMetric('AWS/Lambda', 'Throttles', { FunctionName }, 'Sum'),
    },
  }
  return {
    heading: 'creates-answered',
    promise: 'creates are answered with a payment, or with the provider’s refusal of that payment',
    objective: 99.5,
    page: 'page-money-in',
    impact: 'merchants and their customers, who cannot begin to pay.',
    fast: { ...FAST, percent },
    slow: { ...SLOW, percent },
    look: [
      'filter message = "payment.create_failed" | stats count() as n by reason, method, channel, client_id | sort n desc',
      'filter operation = "create_request" | stats pct(call_ms, 50), pct(call_ms, 99), count() as n by bin(5m)',
      'One channel: its bank or wallet is down. `timeout`, `HTTP 5..`, `ECONNRESET`: the provider. One code in capitals on everything: our account there. `no usable provider key`: our secret. No lines: the function crashes, see [api-errors](#api-errors).',
    ],
    act: [
      'Provider: read its status page, open a ticket with it, tell merchants. Wrong key: put the right one into the secret `gateway/prod/provider`. After a release: [roll back](#roll-back).',
      'A failed create is safe to retry with its key. Money on an attempt of unknown outcome is matched by its reference.',
    ],
  }
}

const WITHIN_MS = MINUTE_MS

const webhooks = ({ our }: Watched): ServiceLevel => {
  const percent: Measure = {
    formula: `IF(${orZero('announced')} >= 20, 100 * (announced - ${orZero('soon')}) / announced, 0)`,
    of: {
      announced: our('TimeToAnnounce', OVERALL, 'SampleCount'),
      soon: our('TimeToAnnounce', OVERALL, `TC(:${WITHIN_MS})`),
    },
  }
  return {
    heading: 'webhooks-in-time',
    promise: 'merchants answer 2xx to the webhook of a payment within a minute after it was paid',
    objective: 97,
    page: 'page-announcements',
    impact: 'merchants, and customers who wait at a counter or a checkout page.',
    fast: { ...FAST, percent },
    slow: { ...SLOW, percent },
    look: [
      'filter message in ["delivery.failed", "delivery.abandoned"] | stats count() as n by client_id, endpoint_id, error, http_status | sort n desc',
      'filter message = "delivery.succeeded" | stats pct(announced_ms, 50), pct(announced_ms, 99), pct(duration_ms, 50), count() as n by bin(5m)',
      'One endpoint: its merchant. `duration_ms` as large as `announced_ms`: merchants are slow, or our egress is.',
    ],
    act: [
      'One merchant: tell them what their endpoint answers. `timeout`, `connection` or `dns` of all: [deliveries-failing](#deliveries-failing). A backlog: [deliveries-late](#deliveries-late).',
      'Workers at their maximum on the dashboard: set `deliveries` in the stage’s file to what you measure, and deploy.',
    ],
  }
}

const TRIES = QUEUE_SETTINGS.settlements.maxReceives
const HIDDEN_MINUTES = hiddenSecondsOf('settlements') / 60

/** Late is who was given up; who fails at first is on the way there. A failed try is hidden as long as the period is. */
const settlements = (watched: Watched): ServiceLevel => {
  const swept = watched.our('SweptClients', OVERALL, 'Sum')
  const settler = functionNameOf(watched, ({ trigger }) => trigger.kind === 'queue' && trigger.queue === 'settlements')
  const share = (bad: string, least: number): string =>
    `IF(${orZero('swept')} > 0, ${percentOf(orZero(bad), 'swept', least)}, 0)`
  const QueueName = watched.deadLetterQueues.find(({ id }) => id === 'settlements-dead')?.queueName ?? ''
  return {
    heading: 'settled-in-time',
    promise: 'every client that a sweep finds is settled on that day',
    objective: 99,
    page: 'page-settlements',
    impact: 'merchants, who are not settled and not paid out today.',
    fast: {
      ...FAST,
      minutes: HIDDEN_MINUTES,
      percent: {
        formula: share('failed', 3),
        of: { swept, failed: watched.our('FailedMessages', { function: settler }, 'Sum') },
      },
    },
    slow: {
      ...DAILY,
      percent: {
        formula: share('dead', 1),
        of: { swept, dead: awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName }, 'Maximum') },
      },
    },
    look: [
      'filter message = "message.failed" and function like /settle-client/ | stats count() as n by error_name | sort n desc',
      `A client that failed is tried again after ${HIDDEN_MINUTES} minutes, ${TRIES} times in all. Then it is in \`settlements-dead\`.`,
    ],
    act: [
      'The `error_stack` of a line says where (`npm run trace`). After a release: [roll back](#roll-back). A timeout: the table’s latency; what was summed is kept.',
      'Then move back what was given up, or settle the client at once; both are safe. Audit it afterwards.',
      'npm run redrive -- --stage prod --queue settlements',
      'npm run -s admin -- trigger-settlement --stage prod --client_id CLIENT_ID',
      'npm run -s admin -- audit-ledger --stage prod --client_id CLIENT_ID',
    ],
  }
}

/** Each by the fast use of its budget, which pages, and by the slow use, which may wait until the day. */
export const serviceLevels = (watched: Watched): readonly AlarmSpec[] =>
  [creates(watched), webhooks(watched), settlements(watched)].flatMap(burnAlarms)
