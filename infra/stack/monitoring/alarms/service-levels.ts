import { HOUR_MS, MINUTE_MS } from '../../../../shared/time.ts'
import { hiddenSecondsOf } from '../../triggers/queue-settings.ts'
import type { AlarmSpec, Page } from './alarm-spec.ts'
import { awsMetric, type Measure, OVERALL, orZero } from './metric-ref.ts'
import { functionNameOf, type Watched } from './watched.ts'

/** So fast the budget of thirty days is used up, as a multiple of the rate that would use it up in just that time. */
type Burn = { readonly minutes: number; readonly rate: number; readonly percent: Measure }

/** What merchants are promised, percent over thirty days, and the two rates of its use that ask for an action. */
type ServiceLevel = Pick<AlarmSpec, 'impact'> & {
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
  }
}

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
  }
}

/** Each by the fast use of its budget, which pages, and by the slow use, which may wait until the day. */
export const serviceLevels = (watched: Watched): readonly AlarmSpec[] =>
  [creates(watched), webhooks(watched), settlements(watched)].flatMap(burnAlarms)
