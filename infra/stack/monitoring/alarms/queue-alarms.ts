import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, orZero, sumOf } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** Seconds: longer than SQS holds a message back, since a delayed one may bring its age along when it appears. */
const OLD_WEBHOOK_SECONDS = 1_200
/** Seconds: endpoints that hang wait for each other there, and an hour is none of the schedule's. */
const OLD_SLOW_WEBHOOK_SECONDS = 3_600
/** Seconds: a message that failed once is hidden for an hour before its second try. */
const OLD_SETTLEMENT_SECONDS = 7_200

/** Seconds: a message whose worker broke off is hidden for half an hour. */
const OLD_SYNC_SECONDS = 2_400

const OLD_AUDIT_SECONDS = 21_600

/** Who waits for what was given up, by the queue it is in. */
const IMPACTS: Readonly<Record<string, string>> = {
  'webhooks-dead': 'merchants, until due work sends their deliveries again.',
  'webhooks-slow-dead': 'merchants whose endpoints hang, until due work sends their deliveries again.',
  'settlements-dead': 'a merchant who is not settled, and not paid out, until the message is moved back.',
  'sync-dead': 'nobody: the schedule does the same work every five minutes.',
  'audits-dead': 'nobody yet: the books of a merchant are not audited until tomorrow.',
  'schedules-dead': 'merchants, until the next run of the schedule: a day later if it was the sweep.',
}

const notEmpty = ({ id, queueName }: Watched['deadLetterQueues'][number]): AlarmSpec => ({
  id: `${id}-not-empty`,
  // A settlement that nobody repeats is a merchant who is not paid; the others have due work behind them.
  severity: id === 'settlements-dead' ? 'page' : 'ticket',
  summary: `Messages were given up and wait in ${id}.`,
  impact: IMPACTS[id] ?? 'whoever waits for the work in those messages.',
  measure: awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: queueName }, 'Maximum'),
  when: { above: 0, minutes: 5, periods: 1 },
  because: 'Nothing ends there but what failed every try. It stays until an operator moves it back.',
})

/** One for all kinds: nobody waits for these, since what is due is handed out again each minute. */
const dueWorkGivenUp = (dead: Watched['deadLetterQueues']): AlarmSpec => ({
  id: 'due-work-dead-not-empty',
  severity: 'ticket',
  summary: 'Workers of due work break off, and what they were handed was given up.',
  impact: 'nobody by itself: it is handed out again each minute. Whoever is behind the cause, if it goes on.',
  measure: sumOf(
    dead.map(({ queueName }) =>
      awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: queueName }, 'Maximum'),
    ),
  ),
  when: { above: 0, minutes: 5, periods: 1 },
  because: 'Nothing ends there but what failed every try. It stays until an operator moves it back.',
})

const isOfDueWork = ({ id }: Watched['deadLetterQueues'][number]): boolean => id.startsWith('due-')

const stuckSettlements = (queueName: string): AlarmSpec => ({
  id: 'settlements-stuck',
  severity: 'page',
  summary: 'Settlements wait in their queue and nobody takes them.',
  impact: 'every merchant: nobody is settled, and nobody is paid out today.',
  measure: {
    formula: `IF(${orZero('waiting')} > 0, IF(${orZero('finished')} < 1, ${orZero('waiting')}, 0), 0)`,
    of: {
      waiting: awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: queueName }, 'Minimum'),
      finished: awsMetric('AWS/SQS', 'NumberOfMessagesDeleted', { QueueName: queueName }, 'Sum'),
    },
  },
  when: { above: 0, minutes: 15, periods: 2 },
  because:
    'Ten clients are settled side by side, each within ten minutes. One that failed is hidden for an hour: settlements-failing sees those.',
})

const waitingInSlowLane = (queueName: string): AlarmSpec => ({
  id: 'webhooks-slow-waiting',
  severity: 'ticket',
  summary: 'A message to an endpoint that hangs has waited in the slow lane for an hour.',
  impact: 'merchants whose endpoints hang, or did until now: they are told later than the schedule says.',
  measure: awsMetric('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName: queueName }, 'Maximum'),
  when: { above: OLD_SLOW_WEBHOOK_SECONDS, minutes: 5, periods: 3 },
  because:
    'Seconds. The lane makes five attempts a second that hang; an hour of them is more than one endpoint’s backlog.',
})

/** Queues that do not empty, and those that should be empty. */
export const queueAlarms = ({ queues, deadLetterQueues }: Watched): readonly AlarmSpec[] => [
  ...deadLetterQueues.filter((queue) => !isOfDueWork(queue)).map(notEmpty),
  dueWorkGivenUp(deadLetterQueues.filter(isOfDueWork)),
  {
    id: 'webhooks-waiting',
    severity: 'ticket',
    summary: 'A delivery’s message has waited in the queue for twenty minutes.',
    impact: 'merchants, who are told of payments late.',
    measure: awsMetric('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName: queues.webhooks }, 'Maximum'),
    when: { above: OLD_WEBHOOK_SECONDS, minutes: 5, periods: 2 },
    because: 'Seconds. Retries are sent with up to 15 minutes of delay, which is no waiting; five more are.',
  },
  waitingInSlowLane(queues['webhooks-slow']),
  {
    id: 'settlements-waiting',
    severity: 'ticket',
    summary: 'A client’s settlement has waited in the queue for two hours.',
    impact: 'a merchant, whose payout is late.',
    measure: awsMetric('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName: queues.settlements }, 'Maximum'),
    when: { above: OLD_SETTLEMENT_SECONDS, minutes: 5, periods: 3 },
    because: 'Seconds. One failed try hides a message for an hour; a second failure is no accident.',
  },
  {
    id: 'sync-waiting',
    severity: 'ticket',
    summary: 'Whoever was called to share the sync has not come for half an hour.',
    impact: 'nobody yet: the schedule reads alone, and slower.',
    measure: awsMetric('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName: queues.sync }, 'Maximum'),
    when: { above: OLD_SYNC_SECONDS, minutes: 5, periods: 3 },
    because: 'Seconds. Ten run side by side, four minutes each; one that broke off is hidden for half an hour.',
  },
  {
    id: 'audits-waiting',
    severity: 'ticket',
    summary: 'The audit of a client’s books has waited in the queue for six hours.',
    impact: 'nobody yet: what is wrong in a merchant’s books is found later.',
    measure: awsMetric('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName: queues.audits }, 'Maximum'),
    when: { above: OLD_AUDIT_SECONDS, minutes: 5, periods: 3 },
    because: 'Seconds. Five clients are audited side by side; by the working day all should be.',
  },
  stuckSettlements(queues.settlements),
]
