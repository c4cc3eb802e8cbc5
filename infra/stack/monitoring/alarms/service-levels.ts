import { HOUR_MS, MINUTE_MS } from '../../../../shared/time.ts'
import { hiddenSecondsOf } from '../../settings/queue-settings.ts'
import { createFunctionName, functionNameOf, type Watched } from '../watched-stack.ts'
import type { AlarmSpec, Page } from './alarm-spec.ts'
import { awsMetric, type Measure, OVERALL, orZero } from './metric-ref.ts'

/** A multiple of the rate that uses the error budget up in exactly thirty days. */
type Burn = {
  readonly minutes: number
  readonly rate: number
  readonly percent: Measure
  readonly recent?: AlarmSpec['recent']
}

/** A promise in percent over thirty days, and the two rates of budget use that need an action. */
type ServiceLevel = Pick<AlarmSpec, 'impact'> & {
  readonly heading: string
  readonly broken: string
  readonly objective: number
  readonly page: Page['id']
  readonly fast: Burn
  readonly slow: Burn
}

const HOUR_MINUTES = HOUR_MS / MINUTE_MS
/** As usual: 2 % of the month's budget within an hour, 5 % within six hours. */
const FAST = { minutes: HOUR_MINUTES, rate: 14.4 }
/** The short window beside the hour. One bad event of a quiet night is enough for it. */
const RECENT_MINUTES = 15
const SLOW = { minutes: 6 * HOUR_MINUTES, rate: 6 }
/** For daily work: 10 % of the month's budget within a day. */
const DAILY = { minutes: 24 * HOUR_MINUTES, rate: 3 }

/** Fast use of an error budget is a page, slow use a ticket. */
export function serviceLevels(watched: Watched) {
  return [createLevel(watched), webhookLevel(watched), settlementLevel(watched)].flatMap(burnAlarms)
}

/**
 * Answered also if the provider rejects the payment. A create that failed or never began is not.
 */
function createLevel(watched: Watched): ServiceLevel {
  const { our } = watched
  const percentAbove = (least: number): Measure => ({
    formula: percentOf(BAD, `(${BAD} + ${orZero('created')} + ${orZero('refused')})`, least),
    metrics: {
      created: our('Payments', { outcome: 'created' }, 'Sum'),
      refused: our('Payments', { outcome: 'create_refused' }, 'Sum'),
      failed: our('Payments', { outcome: 'create_failed' }, 'Sum'),
      ...killedRuns(createFunctionName(watched)),
    },
  })
  const percent = percentAbove(5)
  return {
    heading: 'creates-answered',
    broken: 'Creates get neither a payment nor a refusal by the provider.',
    objective: 99.5,
    page: 'page-money-in',
    impact: 'merchants and their customers, who cannot begin to pay.',
    fast: { ...FAST, percent, recent: { measure: percentAbove(1), minutes: RECENT_MINUTES } },
    slow: { ...SLOW, percent },
  }
}

/** What failed and said so, and the runs that Lambda ended or never began. */
const BAD = `(${['failed', 'crashed', 'throttled'].map(orZero).join(' + ')})`

/** A run that Lambda ends or does not begin writes no line, so only Lambda counts the run. */
function killedRuns(FunctionName: string) {
  return {
    crashed: awsMetric('AWS/Lambda', 'Errors', { FunctionName }, 'Sum'),
    throttled: awsMetric('AWS/Lambda', 'Throttles', { FunctionName }, 'Sum'),
  }
}

/**
 * The percentage of bad events, if there are at least `least` of them. One bad event of three at
 * night is no rate.
 */
function percentOf(bad: string, all: string, least: number) {
  return `IF(${bad} >= ${least}, 100 * ${bad} / ${all}, 0)`
}

const WITHIN_MS = MINUTE_MS

function webhookLevel({ our }: Watched): ServiceLevel {
  const percentOfAtLeast = (least: number): Measure => ({
    formula: `IF(${orZero('announced')} >= ${least}, 100 * (announced - ${orZero('soon')}) / announced, 0)`,
    metrics: {
      announced: our('TimeToAnnounce', OVERALL, 'SampleCount'),
      soon: our('TimeToAnnounce', OVERALL, `TC(:${WITHIN_MS})`),
    },
  })
  const percent = percentOfAtLeast(20)
  return {
    heading: 'webhooks-in-time',
    broken: 'First webhooks get no 2xx answer within a minute after the payment was paid.',
    objective: 97,
    page: 'page-announcements',
    impact: 'merchants, and customers who wait at a counter or a checkout page.',
    fast: { ...FAST, percent, recent: { measure: percentOfAtLeast(1), minutes: RECENT_MINUTES } },
    slow: { ...SLOW, percent },
  }
}

const HIDDEN_MINUTES = hiddenSecondsOf('settlements') / 60

/**
 * A client is late if its message was given up. Failed and killed tries are the early sign. The
 * sweep writes its metric in one minute, and clients may fail hours later: the long window holds
 * both. SQS hides a failed try, so the short window has one try of each client that fails.
 */
function settlementLevel(watched: Watched): ServiceLevel {
  const swept = watched.our('SweptClients', OVERALL, 'Sum')
  const settler = functionNameOf(
    watched,
    ({ trigger }) => trigger.kind === 'queue' && trigger.queue === 'settlements',
  )
  const share = (bad: string, least: number) =>
    `IF(${orZero('swept')} > 0, ${percentOf(bad, 'swept', least)}, 0)`
  const bad = {
    failed: watched.our('FailedMessages', { function: settler }, 'Sum'),
    ...killedRuns(settler),
  }
  const settled = awsMetric(
    'AWS/SQS',
    'NumberOfMessagesDeleted',
    { QueueName: watched.queues.settlements },
    'Sum',
  )
  const QueueName =
    watched.deadLetterQueues.find(({ id }) => id === 'settlements-dead')?.queueName ?? ''
  return {
    heading: 'settled-in-time',
    broken: 'Clients that the sweep found are not settled on that day.',
    objective: 99,
    page: 'page-settlements',
    impact: 'merchants, who are not settled and not paid out today.',
    fast: {
      ...FAST,
      minutes: SLOW.minutes,
      percent: { formula: share(BAD, 3), metrics: { swept, ...bad } },
      recent: {
        measure: {
          formula: percentOf(BAD, `(${BAD} + ${orZero('settled')})`, 3),
          metrics: { settled, ...bad },
        },
        minutes: HIDDEN_MINUTES,
      },
    },
    slow: {
      ...DAILY,
      percent: {
        formula: share(orZero('dead'), 1),
        metrics: {
          swept,
          dead: awsMetric(
            'AWS/SQS',
            'ApproximateNumberOfMessagesVisible',
            { QueueName },
            'Maximum',
          ),
        },
      },
    },
  }
}

function burnAlarms({
  broken,
  objective,
  page,
  fast,
  slow,
  ...level
}: ServiceLevel): readonly AlarmSpec[] {
  const alarm = (speed: 'fast' | 'slow', { minutes, rate, percent, recent }: Burn): AlarmSpec => ({
    ...level,
    id: `${level.heading}-${speed}`,
    ...(speed === 'fast' && { page }),
    ...(recent && { recent }),
    summary: `${broken} The error budget is used up ${speed === 'fast' ? 'fast' : 'slowly'}.`,
    measure: percent,
    unit: 'percent bad',
    when: { above: Math.round(rate * (100 - objective) * 100) / 100, minutes, periods: 1 },
    because: `The promise is ${objective} % over thirty days. The budget is used ${rate} times too fast.`,
  })
  return [alarm('fast', fast), alarm('slow', slow)]
}
