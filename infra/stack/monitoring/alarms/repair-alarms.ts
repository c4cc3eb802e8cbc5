import { MAX_DELAY_SECONDS } from '../../../../shared/queues.ts'
import { MINUTE_MS } from '../../../../shared/time.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from '../../triggers/queue-settings.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, countOf, OVERALL, orZero, sumOf, withoutGaps } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const notRunning = ({ our }: Watched): AlarmSpec => ({
  id: 'due-work-not-running',
  page: 'page-due-work',
  summary: 'No run has looked for due work for ten minutes.',
  impact: 'everyone whose callback or message is lost: nothing repairs it.',
  measure: withoutGaps(our('DueWorkRuns', OVERALL, 'Sum')),
  unit: 'runs',
  when: { below: 1, minutes: 5, periods: 2 },
  because: 'It runs every minute. EventBridge may be late by one, a deployment by two; not by ten.',
  whenMissing: 'breaching',
  look: [
    'aws events describe-rule --name gateway-prod-check-due-work --query State',
    'aws logs tail /aws/lambda/gateway-prod-check-due-work --since 20m',
  ],
  act: [
    'Start it by hand, each minute until the rule works; it hands out what is due within seconds. It breaks off: [roll back](#roll-back).',
    'npm run -s admin -- check-due-work --stage prod',
    'aws events enable-rule --name gateway-prod-check-due-work',
  ],
})

const late = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'payment-checks-late',
    page: 'page-due-work',
    summary: 'Pending payments are not checked when they should be.',
    impact: 'customers whose callback was lost, and merchants whose payments do not expire.',
    measure: our('PaymentChecksLate', OVERALL, 'Maximum'),
    unit: 'milliseconds',
    when: { above: 15 * MINUTE_MS, minutes: 5, periods: 2 },
    because: 'A burst’s backlog grows smaller each minute; a quarter of an hour is a quota too small.',
    look: [
      'filter message = "payment.check_failed" | stats count() as n by work, id, reason, error_name | sort n desc',
      'filter message = "due_work.drained" | stats sum(payment), sum(failed), count() as n by bin(5m)',
      '`not_shown`: the provider says paid and does not show the money. `rate_limited`: the quota. Fewer a minute than the quota without it: the workers break off, see [work-failing](#work-failing).',
    ],
    act: [
      'Provider: [provider-failing](#provider-failing). A quota too small: ask for a greater one and set `providerCallsPerMinute`. For a customer at the counter `refresh-payment` asks at once.',
    ],
  },
  {
    id: 'alerts-late',
    summary: 'Alerts to operators wait to be published.',
    impact: 'operators, who do not know of money in suspense or of deliveries given up.',
    measure: our('AlertsLate', OVERALL, 'Maximum'),
    unit: 'milliseconds',
    when: { above: 15 * MINUTE_MS, minutes: 5, periods: 2 },
    because: 'Due work tries again each minute; a quarter of an hour is fifteen failures.',
    look: [
      'filter message = "alert.failed" | stats count() as n by error_name, bin(5m)',
      'npm run -s admin -- list-suspense --stage prod --status open',
    ],
    act: [
      '`AuthorizationError`, `KMSAccessDenied`: a permission or a key policy changed; [roll back](#roll-back), or `npm run doctor -- --stage prod`. Read the list meanwhile. Every alert is owed until it is published.',
    ],
  },
]

/** Of every function that works on messages, and what due work could not finish. */
const failedWork = ({ our, functions }: Watched) =>
  sumOf([
    our('DueWorkFailures', OVERALL, 'Sum'),
    ...functions
      .filter(({ spec }) => spec.trigger.kind === 'queue')
      .map(({ functionName }) => our('FailedMessages', { function: functionName }, 'Sum')),
  ])

/** Seconds that a message may wait: longer than SQS holds it back, or hides it after a worker broke off. */
const LONGEST_WAITS = [
  { queue: 'webhooks', id: 'webhooks', seconds: MAX_DELAY_SECONDS + 300 },
  { queue: 'webhooks-slow', id: 'slow', seconds: 3_600 },
  { queue: 'settlements', id: 'settlements', seconds: 2 * hiddenSecondsOf('settlements') + 900 },
  { queue: 'sync', id: 'sync', seconds: hiddenSecondsOf('sync') + 600 },
  { queue: 'audits', id: 'audits', seconds: 21_600 },
] as const

const waiting = ({ queues }: Watched): AlarmSpec => ({
  id: 'messages-waiting',
  summary: 'Messages wait in a queue for longer than any retry explains.',
  impact: 'the merchants of those messages: webhooks, settlements or audits are late.',
  measure: {
    formula: countOf(LONGEST_WAITS.map(({ id, seconds }) => `${orZero(id)} > ${seconds}`)),
    of: Object.fromEntries(
      LONGEST_WAITS.map(({ queue, id }) => [
        id,
        awsMetric('AWS/SQS', 'ApproximateAgeOfOldestMessage', { QueueName: queues[queue] }, 'Maximum'),
      ]),
    ),
  },
  unit: 'queues',
  when: { atLeast: 1, minutes: 5, periods: 3 },
  because: `The longest waits: ${LONGEST_WAITS.map(({ queue, seconds }) => `${queue} ${seconds / 60} min`).join(', ')}.`,
  look: [
    'The dashboard’s "Oldest message" names the queue. Is its worker on, and what does it say?',
    "aws lambda list-event-source-mappings --query 'EventSourceMappings[].[FunctionArn,UUID,State]'",
    'filter message in ["message.failed", "endpoint.slow", "endpoint.not_marked"] | stats count() as n by message, function, error_name, client_id, endpoint_id | sort n desc',
  ],
  act: [
    'Off: `aws lambda update-event-source-mapping --uuid UUID --enabled`. Failing: [work-failing](#work-failing). Throttles on the dashboard: [concurrency-near-limit](#concurrency-near-limit).',
    'The slow lane: tell the merchant of the endpoint that hangs, or disable it (`update-endpoint`) and `redeliver` later. Many that are really slow: raise `slowLane` in `functions/background-functions.ts`.',
  ],
})

const { maxReceives: WEBHOOK_TRIES } = QUEUE_SETTINGS.webhooks
const { maxReceives: OTHER_TRIES } = QUEUE_SETTINGS.settlements

const givenUp = ({ deadLetterQueues }: Watched): AlarmSpec => ({
  id: 'messages-given-up',
  summary: 'Messages were given up and wait in a dead-letter queue.',
  impact: 'a merchant who is not settled, or the next run of a schedule; the rest is handed out again by due work.',
  measure: sumOf(
    deadLetterQueues.map(({ queueName: QueueName }) =>
      awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName }, 'Maximum'),
    ),
  ),
  unit: 'messages',
  when: { above: 0, minutes: 5, periods: 1 },
  because: `Only what broke off ends there: webhooks after ${WEBHOOK_TRIES} receives, other messages after ${OTHER_TRIES}, runs of schedules at once.`,
  look: [
    'npm run redrive -- --stage prod',
    'filter message in ["message.failed", "invocation.failed", "sync.row_failed"] or (type = "platform.report" and record.status != "success") | stats count() as n by @log, message, error_name, record.status | sort n desc',
  ],
  act: [
    'Remove the cause. `KMSInvalidStateException`, `DisabledException`, `AccessDeniedException`: the stage’s key; enable it, or [roll back](#roll-back). Then move the messages back, to the queue that the list names:',
    'npm run redrive -- --stage prod --queue webhooks',
    'A schedule: start the run by hand ([scheduled work](#scheduled-work-by-hand)), and empty the queue when it is complete:',
    'npm run redrive -- --stage prod --queue schedules --purge-confirmed',
  ],
})

/** The net under everything: due work, and the queues that it fills. */
export const repairAlarms = (watched: Watched): readonly AlarmSpec[] => [
  notRunning(watched),
  ...late(watched),
  {
    id: 'work-failing',
    summary: 'Workers cannot finish some messages or items of due work.',
    impact: 'the merchants and customers of those items; all others are served.',
    measure: failedWork(watched),
    unit: 'failures',
    when: { atLeast: 10, minutes: 15, periods: 2 },
    because: 'One item that fails each minute makes fifteen in a quarter of an hour.',
    look: [
      'filter message = "message.failed" | stats count() as n by function, error_name | sort n desc',
      'filter message = "payment.check_failed" and level = "ERROR" | stats count() as n by work, id, error_name | sort n desc',
    ],
    act: [
      'After a release: [roll back](#roll-back), then redrive. Many ids with one `error_name`: the dependency that it names. One id again and again: read it with `get-payment` or `list-deliveries`, keep the `error_stack` of its line, and call the owner of the code.',
    ],
  },
  waiting(watched),
  givenUp(watched),
]
