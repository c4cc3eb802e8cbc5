import type { MetricName } from '../../../../shared/metrics.ts'
import { awsMetric, OVERALL } from '../alarms/metric-ref.ts'
import { PROVIDER_OPERATIONS } from '../alarms/provider-alarms.ts'
import type { Watched } from '../watched-stack.ts'
import { type DashboardRow, type Graph, graph, type Line, line, searchLine } from './graph.ts'

const HOURLY = { periodMinutes: 60 }
const DAILY = { periodMinutes: 24 * 60 }
const FIVE_MINUTES = { periodMinutes: 5 }

export function moneyRows(watched: Watched): readonly DashboardRow[] {
  return [
    {
      heading: 'Is money moving?',
      graphs: [...movingGraphs(watched), ...providerGraphs(watched), ...unresolvedGraphs(watched)],
    },
    { heading: 'Whose money', graphs: breakdownGraphs(watched) },
  ]
}

function movingGraphs({ our }: Watched): readonly Graph[] {
  return [
    graph('Payments', 'per minute', [
      ...linesBy(our, 'Payments', 'outcome', {
        created: 'created',
        succeeded: 'succeeded',
        'create failed': 'create_failed',
        'refused by the provider': 'create_refused',
        'channel not activated': 'create_not_activated',
        failed: 'failed',
      }),
      line('deliveries abandoned', our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum')),
    ]),
    graph('Time from paid to announced', 'milliseconds', [
      line('p50', our('TimeToAnnounce', OVERALL, 'p50')),
      line('p99', our('TimeToAnnounce', OVERALL, 'p99')),
    ]),
  ]
}

function providerGraphs({ our }: Watched): readonly Graph[] {
  const errorRate = (operation: string) => ({
    formula: '100 * errors',
    metrics: { errors: our('ProviderErrors', { operation }, 'Average') },
  })
  const errors = PROVIDER_OPERATIONS.map((name) => line(name, errorRate(name)))
  const slowest = PROVIDER_OPERATIONS.map((name) =>
    line(name, our('ProviderLatency', { operation: name }, 'p99')),
  )
  return [
    graph('Provider: failed calls', 'percent', errors, FIVE_MINUTES),
    graph('Provider: latency p99', 'milliseconds', slowest, FIVE_MINUTES),
  ]
}

function unresolvedGraphs({ our, deadLetterQueues }: Watched): readonly Graph[] {
  const messages = (QueueName: string) =>
    awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName }, 'Maximum')
  const suspense = linesBy(our, 'SuspenseItems', 'kind', {
    'money credited to no merchant': 'money',
    findings: 'finding',
  })
  const settled = linesBy(our, 'SettlementAmount', 'triggered_by', {
    'by the sweep': 'auto',
    'by an operator': 'manual',
  })
  return [
    graph('Suspense', 'new items per hour', suspense, HOURLY),
    graph(
      'Messages given up',
      'messages',
      deadLetterQueues.map(({ id, queueName }) => line(id, messages(queueName))),
    ),
    graph('Settled', 'IDR net per day', settled, { ...DAILY, stacked: true }),
  ]
}

function breakdownGraphs({ our, stage }: Watched): readonly Graph[] {
  const succeeded = searchLine(stage, 'Payments', ['method', 'channel', 'outcome'], {
    outcome: 'succeeded',
  })
  const heard = searchLine(stage, 'SuccessHeard', ['source'], {})
  const ended = linesBy(our, 'Payments', 'outcome', {
    expired: 'expired',
    cancelled: 'cancelled',
    failed: 'failed',
  })
  const attempts = linesBy(our, 'DeliveryAttempts', 'outcome', {
    succeeded: 'succeeded',
    'failed, retried': 'failed',
    abandoned: 'abandoned',
    skipped: 'skipped',
  })
  const settlements = [
    ...linesBy(our, 'Settlements', 'triggered_by', {
      'settlements by the sweep': 'auto',
      'settlements by an operator': 'manual',
    }),
    searchLine(stage, 'SuspenseItems', ['kind', 'cause'], {}),
  ]
  return [
    graph('Succeeded by method and channel', 'per 5 minutes', [succeeded], {
      ...FIVE_MINUTES,
      stacked: true,
    }),
    graph('Successes by source', 'per hour', [heard], { ...HOURLY, stacked: true }),
    graph('Failed, expired and cancelled payments', 'per 5 minutes', ended, {
      ...FIVE_MINUTES,
      stacked: true,
    }),
    graph('Webhook attempts', 'per minute', attempts, { stacked: true }),
    graph('Settlements, and suspense by cause', 'per day', settlements, DAILY),
  ]
}

/** A line for each named value of the dimension. */
function linesBy(
  our: Watched['our'],
  name: MetricName,
  dimension: string,
  values: Readonly<Record<string, string>>,
): readonly Line[] {
  return Object.entries(values).map(([label, value]) =>
    line(label, our(name, { [dimension]: value }, 'Sum')),
  )
}
