import { MINUTE_MS } from '../../../../shared/time.ts'
import type { Watched } from '../watched-stack.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { OVERALL, orZero } from './metric-ref.ts'

/** Failures that the service level does not count: no merchant answers, or no worker runs. */
export function announcementAlarms(watched: Watched): readonly AlarmSpec[] {
  return [
    failingDeliveries(watched),
    {
      id: 'deliveries-late',
      page: 'page-announcements',
      summary: 'Deliveries are overdue and their messages do not arrive.',
      impact: 'merchants, whose webhooks come late or never.',
      measure: watched.our('DeliveriesLate', OVERALL, 'Maximum'),
      unit: 'milliseconds',
      when: { above: 10 * MINUTE_MS, minutes: 5, periods: 2 },
      because:
        'The ten minutes begin a minute after the delivery’s time. A backlog of webhooks ' +
        'shows here first.',
    },
  ]
}

function failingDeliveries({ our }: Watched): AlarmSpec {
  const bad = `(${orZero('failed')} + ${orZero('abandoned')})`
  const all = `(${orZero('succeeded')} + ${orZero('failed')} + ${orZero('abandoned')})`
  return {
    id: 'deliveries-failing',
    page: 'page-announcements',
    summary: 'Four of five deliveries to merchants fail.',
    impact: 'merchants, who get no webhooks.',
    measure: {
      formula: `IF(${all} >= 20, 100 * ${bad} / ${all}, 0)`,
      metrics: {
        succeeded: our('DeliveryAttempts', { outcome: 'succeeded' }, 'Sum'),
        failed: our('DeliveryAttempts', { outcome: 'failed' }, 'Sum'),
        abandoned: our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum'),
      },
    },
    unit: 'percent of attempts',
    when: { above: 80, minutes: 5, periods: 3 },
    because:
      'It needs at least twenty attempts. So many merchants are never down at once: look at ' +
      'our egress.',
  }
}
