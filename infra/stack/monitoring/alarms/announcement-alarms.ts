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
      when: { above: 5 * MINUTE_MS, minutes: 5, periods: 2, outOf: 3 },
      because: 'Due work looks after at most 2, 5, 10 and 19 minutes. Slow endpoints do not count.',
    },
  ]
}

function failingDeliveries({ our }: Watched): AlarmSpec {
  const bad = `(${orZero('failed')} + ${orZero('abandoned')})`
  const all = `(${orZero('succeeded')} + ${bad})`
  return {
    id: 'deliveries-failing',
    page: 'page-announcements',
    summary: 'Four of five deliveries to merchants fail.',
    impact: 'merchants, who get no webhooks.',
    measure: {
      formula: `IF(${all} >= 20, 100 * ${bad} / ${all}, 0)`,
      metrics: Object.fromEntries(
        ['succeeded', 'failed', 'abandoned'].map((outcome) => [
          outcome,
          our('DeliveryAttempts', { outcome }, 'Sum'),
        ]),
      ),
    },
    unit: 'percent of attempts',
    when: { above: 80, minutes: 5, periods: 3 },
    because:
      'It needs at least twenty attempts. So many merchants are never down at once: look at ' +
      'our egress.',
  }
}
