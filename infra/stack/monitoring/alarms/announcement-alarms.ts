import { MINUTE_MS } from '../../../../shared/time.ts'
import { ATTEMPTS_PER_ROUND } from '../../../../shared/webhook/send/retry-schedule.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { OVERALL, orZero } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const failing = ({ our }: Watched): AlarmSpec => {
  const bad = `(${orZero('failed')} + ${orZero('abandoned')})`
  const all = `(${orZero('succeeded')} + ${orZero('failed')} + ${orZero('abandoned')})`
  return {
    id: 'deliveries-failing',
    page: 'page-announcements',
    summary: 'Four of five deliveries to merchants fail.',
    impact: 'merchants, who are not told of payments.',
    measure: {
      formula: `IF(${all} >= 20, 100 * ${bad} / ${all}, 0)`,
      of: {
        succeeded: our('DeliveryAttempts', { outcome: 'succeeded' }, 'Sum'),
        failed: our('DeliveryAttempts', { outcome: 'failed' }, 'Sum'),
        abandoned: our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum'),
      },
    },
    unit: 'percent of attempts',
    when: { above: 80, minutes: 5, periods: 3 },
    because: 'Of at least twenty attempts. So many merchants are not down at once: our way out to them is.',
    look: [
      'filter message in ["delivery.failed", "delivery.abandoned"] | stats count() as n, count_distinct(client_id) as merchants by error, http_status | sort n desc',
      '`timeout`, `connection` or `dns` of all: our egress. `secret_missing` of all: the rows were sealed under another key than the stage’s. One merchant: theirs.',
    ],
    act: [
      'Egress with `webhookEgress: "nat"`: look at the NAT gateways and at the function’s subnets, routes and security group; without it, at AWS’s health in the region. After a release: [roll back](#roll-back). Lost secrets: register new endpoints (`docs/operations.md`, section 4).',
      `Each delivery is tried ${ATTEMPTS_PER_ROUND} times. Send again what was abandoned. \`--all\` goes on until nothing is left; \`passed_over\` counts those that had ten rounds today:`,
      'npm run -s admin -- redeliver --stage prod --client_id CLIENT_ID --endpoint_id ENDPOINT_ID --since 2026-11-20T00:00:00.000Z --all',
    ],
  }
}

/** From paid to announced: what the service level does not see, because no merchant answers or no worker comes. */
export const announcementAlarms = (watched: Watched): readonly AlarmSpec[] => [
  failing(watched),
  {
    id: 'deliveries-late',
    page: 'page-announcements',
    summary: 'Deliveries are overdue and their messages do not arrive.',
    impact: 'merchants, who are told of payments late or not at all.',
    measure: watched.our('DeliveriesLate', OVERALL, 'Maximum'),
    unit: 'milliseconds',
    when: { above: 10 * MINUTE_MS, minutes: 5, periods: 2 },
    because: 'After the minute that a message has. A backlog of webhooks shows here first.',
    look: [
      'filter message in ["delivery.not_sent", "delivery.succeeded", "delivery.failed", "delivery.dropped", "delivery.requeued", "message.failed"] | stats count() as n by message, reason, error_name, bin(5m)',
      "aws lambda list-event-source-mappings --function-name gateway-prod-deliver-webhook --query 'EventSourceMappings[].[UUID,State]'",
      'aws lambda get-function-recursion-config --function-name gateway-prod-deliver-webhook',
    ],
    act: [
      'Event source off: `aws lambda update-event-source-mapping --uuid UUID --enabled`. Recursion not `Allow`: deploy, since the stack says so. Crashes, or `delivery.not_sent`: [roll back](#roll-back). Throttles on the dashboard: [concurrency-near-limit](#concurrency-near-limit).',
      'Lost messages need nothing: due work sends new ones. A merchant may get one event twice, under one event id.',
    ],
  },
]
