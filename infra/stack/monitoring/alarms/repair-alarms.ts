import { MAX_DELAY_SECONDS } from '../../../../shared/queues.ts'
import { MINUTE_MS } from '../../../../shared/time.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from '../../settings/queue-settings.ts'
import type { Watched } from '../watched-stack.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, countOf, OVERALL, orZero, sumOf, withoutGaps } from './metric-ref.ts'

/** Due work repairs lost callbacks and messages. */
export function repairAlarms(watched: Watched): readonly AlarmSpec[] {
  return [
    dueWorkNotRunning(watched),
    ...lateWork(watched),
    {
      id: 'work-failing',
      summary: 'Workers cannot finish some messages or items of due work.',
      impact: 'the merchants and customers of those items; all others are served.',
      measure: failedWork(watched),
      unit: 'failures',
      when: { atLeast: 4, minutes: 15, periods: 4 },
      because: 'One payment is enough: its check repeats within three minutes.',
    },
    waitingMessages(watched),
    ...messagesGivenUp(watched),
    failingSchedules(watched),
  ]
}

function dueWorkNotRunning({ our }: Watched): AlarmSpec {
  return {
    id: 'due-work-not-running',
    page: 'page-due-work',
    summary: 'No run has looked for due work for ten minutes.',
    impact: 'merchants and customers whose callback or message was lost: nothing repairs it.',
    measure: withoutGaps(our('DueWorkRuns', OVERALL, 'Sum')),
    unit: 'runs',
    when: { below: 1, minutes: 5, periods: 2 },
    because:
      'It runs every minute. EventBridge may delay a run by one minute, a deployment by two.',
    whenMissing: 'breaching',
  }
}

function lateWork({ our }: Watched): readonly AlarmSpec[] {
  return [
    {
      id: 'payment-checks-late',
      page: 'page-due-work',
      summary: 'Pending payments are not checked when they should be.',
      impact: 'customers whose callback was lost, and merchants whose payments do not expire.',
      measure: our('PaymentChecksLate', OVERALL, 'Maximum'),
      unit: 'milliseconds',
      when: { above: 15 * MINUTE_MS, minutes: 5, periods: 2 },
      because:
        'The backlog of a burst shrinks each minute. After a quarter of an hour the quota is ' +
        'too small.',
    },
    {
      id: 'alerts-late',
      summary: 'Alerts to operators wait to be published.',
      impact: 'operators, who do not know of money in suspense or of abandoned deliveries.',
      // A suspense item whose alert fails is due later, so never late.
      measure: {
        formula: countOf([`${orZero('late')} > ${15 * MINUTE_MS}`, `${orZero('failed')} > 0`]),
        metrics: {
          late: our('AlertsLate', OVERALL, 'Maximum'),
          failed: our('AlertFailures', OVERALL, 'Sum'),
        },
      },
      unit: 'signs',
      when: { atLeast: 1, minutes: 5, periods: 3 },
      because: 'Due work tries again within two minutes: at least seven failures.',
    },
  ]
}

/** Failed messages, and items that due work could not finish. */
function failedWork({ our, functions }: Watched) {
  return sumOf([
    our('DueWorkFailures', OVERALL, 'Sum'),
    ...functions
      .filter(({ spec }) => spec.trigger.kind === 'queue')
      .map(({ functionName }) => our('FailedMessages', { function: functionName }, 'Sum')),
  ])
}

/** Seconds: longer than SQS delays a message, or hides it after a worker failed. */
const LONGEST_WAITS = [
  { queue: 'webhooks', id: 'webhooks', seconds: MAX_DELAY_SECONDS + 300 },
  { queue: 'webhooks-slow', id: 'slow', seconds: 3_600 },
  { queue: 'settlements', id: 'settlements', seconds: 2 * hiddenSecondsOf('settlements') + 900 },
  { queue: 'sync', id: 'sync', seconds: hiddenSecondsOf('sync') + 600 },
  { queue: 'audits', id: 'audits', seconds: 21_600 },
] as const

function waitingMessages({ queues }: Watched): AlarmSpec {
  return {
    id: 'messages-waiting',
    summary: 'Messages wait in a queue for longer than any retry explains.',
    impact: 'the merchants of those messages: webhooks, settlements or audits are late.',
    measure: {
      formula: countOf(LONGEST_WAITS.map(({ id, seconds }) => `${orZero(id)} > ${seconds}`)),
      metrics: Object.fromEntries(
        LONGEST_WAITS.map(({ queue, id }) => [
          id,
          awsMetric(
            'AWS/SQS',
            'ApproximateAgeOfOldestMessage',
            { QueueName: queues[queue] },
            'Maximum',
          ),
        ]),
      ),
    },
    unit: 'queues',
    when: { atLeast: 1, minutes: 5, periods: 3 },
    because: `The longest waits: ${LONGEST_WAITS.map(({ queue, seconds }) => `${queue} ${seconds / 60} min`).join(', ')}.`,
  }
}

/** One alarm a queue, so that old messages of one queue do not hide new messages of another. */
function messagesGivenUp({ deadLetterQueues }: Watched): readonly AlarmSpec[] {
  return deadLetterQueues.map(({ id, name, queueName: QueueName }) => ({
    id: `messages-given-up-${name}`,
    heading: 'messages-given-up',
    summary: `Messages were given up and wait in the queue ${id}.`,
    impact: LOST_WORK[name],
    measure: awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName }, 'Maximum'),
    unit: 'messages',
    when: { above: 0, minutes: 5, periods: 1 },
    because:
      name === 'schedules'
        ? 'A failed run of a schedule ends there at once, a failed daily run after three tries.'
        : `A message ends there after ${QUEUE_SETTINGS[name].maxReceives} failed receives.`,
  }))
}

const SENT_AGAIN = 'no one for long: due work sends these messages again.'
const LOST_WORK: Readonly<Record<Watched['deadLetterQueues'][number]['name'], string>> = {
  webhooks: SENT_AGAIN,
  'webhooks-slow': SENT_AGAIN,
  settlements: 'a merchant who is not settled today.',
  sync: 'merchants whose fees are read later.',
  audits: 'a merchant who is not audited today, and whose payout waits for the audit.',
  'due-payments': SENT_AGAIN,
  'due-deliveries': SENT_AGAIN,
  'due-alerts': SENT_AGAIN,
  schedules: 'everyone who waits for that run: one run of a schedule did nothing.',
}

/** A run that EventBridge could not start leaves no line in any log of ours. */
function failingSchedules({ schedules }: Watched): AlarmSpec {
  return {
    id: 'schedules-failing',
    summary: 'EventBridge cannot start scheduled functions.',
    impact: 'everyone who waits for due work, the sync, the sweep or the audits.',
    measure: sumOf(
      schedules.map((RuleName) =>
        awsMetric('AWS/Events', 'FailedInvocations', { RuleName }, 'Sum'),
      ),
    ),
    unit: 'starts refused',
    when: { above: 0, minutes: 5, periods: 1 },
    because:
      'EventBridge counts a start only when it has stopped trying. A refused start usually means ' +
      'a permission or an alias that is gone.',
  }
}
