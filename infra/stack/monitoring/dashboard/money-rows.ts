import { awsMetric, OVERALL } from '../alarms/metric-ref.ts'
import { PROVIDER_OPERATIONS } from '../alarms/provider-alarms.ts'
import type { Watched } from '../alarms/watched.ts'
import { type DashboardRow, type Graph, inMinutes, line, search } from './graph.ts'

const DAY_MINUTES = 24 * 60

const payments = ({ our }: Watched): Graph => ({
  title: 'Payments',
  unit: 'per minute',
  lines: [
    line('created', our('Payments', { outcome: 'created' }, 'Sum')),
    line('succeeded', our('Payments', { outcome: 'succeeded' }, 'Sum')),
    line('create failed', our('Payments', { outcome: 'create_failed' }, 'Sum')),
    line('refused by the provider', our('Payments', { outcome: 'create_refused' }, 'Sum')),
    line('failed', our('Payments', { outcome: 'failed' }, 'Sum')),
    line('deliveries abandoned', our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum')),
  ],
})

const announced = ({ our }: Watched): Graph => ({
  title: 'From paid to announced',
  unit: 'milliseconds',
  lines: [
    line('half of them', our('TimeToAnnounce', OVERALL, 'p50')),
    line('99 of 100', our('TimeToAnnounce', OVERALL, 'p99')),
  ],
})

const providerErrors = ({ our }: Watched): Graph => ({
  title: 'Provider: calls that went wrong',
  unit: 'percent',
  lines: PROVIDER_OPERATIONS.map(({ name }) =>
    line(name, { formula: '100 * errors', of: { errors: our('ProviderErrors', { operation: name }, 'Average') } }),
  ),
  periodMinutes: 5,
})

const providerLatency = ({ our }: Watched): Graph => ({
  title: 'Provider: slowest of 100 calls',
  unit: 'milliseconds',
  lines: PROVIDER_OPERATIONS.map(({ name }) => line(name, our('ProviderLatency', { operation: name }, 'p99'))),
  periodMinutes: 5,
})

const dueWork = ({ our }: Watched): Graph => ({
  title: 'Oldest due work',
  unit: 'minutes late',
  lines: [
    line('events', inMinutes(our('EventsLate', OVERALL, 'Maximum'))),
    line('alerts', inMinutes(our('AlertsLate', OVERALL, 'Maximum'))),
    line('deliveries', inMinutes(our('DeliveriesLate', OVERALL, 'Maximum'))),
    line('payment checks', inMinutes(our('PaymentChecksLate', OVERALL, 'Maximum'))),
  ],
})

const suspense = ({ our }: Watched): Graph => ({
  title: 'Suspense',
  unit: 'new items per hour',
  lines: [
    line('money nobody is credited with', our('SuspenseItems', { kind: 'money' }, 'Sum')),
    line('findings', our('SuspenseItems', { kind: 'finding' }, 'Sum')),
  ],
  periodMinutes: 60,
})

const givenUp = ({ deadLetterQueues }: Watched): Graph => ({
  title: 'Messages given up',
  unit: 'messages',
  lines: deadLetterQueues.map(({ id, queueName }) =>
    line(id, awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName: queueName }, 'Maximum')),
  ),
})

const settled = ({ our }: Watched): Graph => ({
  title: 'Settled',
  unit: 'IDR net per day',
  lines: [
    line('by the sweep', our('SettlementAmount', { triggered_by: 'auto' }, 'Sum')),
    line('by an operator', our('SettlementAmount', { triggered_by: 'manual' }, 'Sum')),
  ],
  stacked: true,
  periodMinutes: DAY_MINUTES,
})

const byChannel = ({ stage }: Watched): Graph => ({
  title: 'Succeeded by method and channel',
  unit: 'per 5 minutes',
  lines: [search(stage, 'Payments', ['method', 'channel', 'outcome'], { outcome: 'succeeded' }, 'Sum')],
  stacked: true,
  periodMinutes: 5,
})

const heardOf = ({ stage }: Watched): Graph => ({
  title: 'Successes by where we heard of them',
  unit: 'per hour',
  lines: [search(stage, 'SuccessHeard', ['source'], {}, 'Sum')],
  stacked: true,
  periodMinutes: 60,
})

const byOutcome = ({ our }: Watched): Graph => ({
  title: 'Payments that ended without money',
  unit: 'per 5 minutes',
  lines: [
    line('expired', our('Payments', { outcome: 'expired' }, 'Sum')),
    line('cancelled', our('Payments', { outcome: 'cancelled' }, 'Sum')),
    line('failed', our('Payments', { outcome: 'failed' }, 'Sum')),
  ],
  stacked: true,
  periodMinutes: 5,
})

const attempts = ({ our }: Watched): Graph => ({
  title: 'Webhook attempts',
  unit: 'per minute',
  lines: [
    line('succeeded', our('DeliveryAttempts', { outcome: 'succeeded' }, 'Sum')),
    line('failed, tried again', our('DeliveryAttempts', { outcome: 'failed' }, 'Sum')),
    line('abandoned', our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum')),
    line('skipped', our('DeliveryAttempts', { outcome: 'skipped' }, 'Sum')),
  ],
  stacked: true,
})

const settlements = ({ our, stage }: Watched): Graph => ({
  title: 'Settlements, and suspense by cause',
  unit: 'per day',
  lines: [
    line('settlements by the sweep', our('Settlements', { triggered_by: 'auto' }, 'Sum')),
    line('settlements by an operator', our('Settlements', { triggered_by: 'manual' }, 'Sum')),
    search(stage, 'SuspenseItems', ['kind', 'cause'], {}, 'Sum'),
  ],
  periodMinutes: DAY_MINUTES,
})

/** The answer in one look, and what one asks next about money. */
export const moneyRows = (watched: Watched): readonly DashboardRow[] => [
  {
    heading: 'Is money moving?',
    graphs: [payments, announced, providerErrors, providerLatency, dueWork, suspense, givenUp, settled].map((graph) =>
      graph(watched),
    ),
  },
  {
    heading: 'Whose money',
    graphs: [byChannel, heardOf, byOutcome, attempts, settlements].map((graph) => graph(watched)),
  },
]
