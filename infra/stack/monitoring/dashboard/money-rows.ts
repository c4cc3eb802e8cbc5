import { awsMetric, OVERALL } from '../alarms/metric-ref.ts'
import { PROVIDER_OPERATIONS } from '../alarms/provider-alarms.ts'
import type { Watched } from '../watched-stack.ts'
import { type DashboardRow, type Graph, graph, line, searchLine } from './graph.ts'

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
      line('created', our('Payments', { outcome: 'created' }, 'Sum')),
      line('succeeded', our('Payments', { outcome: 'succeeded' }, 'Sum')),
      line('create failed', our('Payments', { outcome: 'create_failed' }, 'Sum')),
      line('refused by the provider', our('Payments', { outcome: 'create_refused' }, 'Sum')),
      line('channel not activated', our('Payments', { outcome: 'create_not_activated' }, 'Sum')),
      line('failed', our('Payments', { outcome: 'failed' }, 'Sum')),
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
  const suspense = [
    line('money credited to no merchant', our('SuspenseItems', { kind: 'money' }, 'Sum')),
    line('findings', our('SuspenseItems', { kind: 'finding' }, 'Sum')),
  ]
  const settled = [
    line('by the sweep', our('SettlementAmount', { triggered_by: 'auto' }, 'Sum')),
    line('by an operator', our('SettlementAmount', { triggered_by: 'manual' }, 'Sum')),
  ]
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
  const succeeded = searchLine(
    stage,
    'Payments',
    ['method', 'channel', 'outcome'],
    { outcome: 'succeeded' },
    'Sum',
  )
  const heard = searchLine(stage, 'SuccessHeard', ['source'], {}, 'Sum')
  const ended = [
    line('expired', our('Payments', { outcome: 'expired' }, 'Sum')),
    line('cancelled', our('Payments', { outcome: 'cancelled' }, 'Sum')),
    line('failed', our('Payments', { outcome: 'failed' }, 'Sum')),
  ]
  const attempts = [
    line('succeeded', our('DeliveryAttempts', { outcome: 'succeeded' }, 'Sum')),
    line('failed, retried', our('DeliveryAttempts', { outcome: 'failed' }, 'Sum')),
    line('abandoned', our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum')),
    line('skipped', our('DeliveryAttempts', { outcome: 'skipped' }, 'Sum')),
  ]
  const settlements = [
    line('settlements by the sweep', our('Settlements', { triggered_by: 'auto' }, 'Sum')),
    line('settlements by an operator', our('Settlements', { triggered_by: 'manual' }, 'Sum')),
    searchLine(stage, 'SuspenseItems', ['kind', 'cause'], {}, 'Sum'),
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
