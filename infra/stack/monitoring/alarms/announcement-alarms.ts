import type { AlarmSpec } from './alarm-spec.ts'
import { OVERALL, orZero } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const times = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'announcements-slow',
    severity: 'page',
    summary: 'Half of the merchants are told of a payment more than half a minute after it was paid.',
    impact: 'every merchant, and customers who wait at a counter or a checkout page.',
    measure: {
      formula: 'IF(samples >= 20, median, 0)',
      of: {
        median: our('TimeToAnnounce', OVERALL, 'p50'),
        samples: our('TimeToAnnounce', OVERALL, 'SampleCount'),
      },
    },
    when: { above: 30_000, minutes: 5, periods: 3 },
    because:
      'Milliseconds at the median of at least twenty: of fewer, one merchant on retries would be half. A second is normal.',
  },
  {
    id: 'announcements-late',
    severity: 'ticket',
    summary: 'One in a hundred payments is announced more than two minutes after it was paid.',
    impact: 'some merchants, most often those whose own endpoint fails at first.',
    measure: our('TimeToAnnounce', OVERALL, 'p99'),
    when: { above: 120_000, minutes: 15, periods: 2 },
    because:
      'Milliseconds at the 99th percentile: more than a first retry after 60 s. One large merchant can cause it.',
  },
]

const deliveriesFailing = ({ our }: Watched): AlarmSpec => {
  const bad = `(${orZero('failed')} + ${orZero('abandoned')})`
  const all = `(${orZero('succeeded')} + ${orZero('failed')} + ${orZero('abandoned')})`
  return {
    id: 'deliveries-failing',
    severity: 'page',
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
    when: { above: 80, minutes: 5, periods: 3 },
    because: 'Percent of at least twenty attempts. So many merchants are not down at once: our way out to them is.',
  }
}

const deliveriesAbandoned = ({ our }: Watched): AlarmSpec => ({
  id: 'deliveries-abandoned',
  severity: 'ticket',
  summary: 'Deliveries failed eight times over two hours and were given up.',
  impact: 'merchants who were never told of payments, until they are sent again.',
  measure: our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum'),
  when: { atLeast: 10, minutes: 60, periods: 1 },
  because:
    'Abandoned ones are told in messages of their endpoint on the alert topic; ten in an hour are an endpoint that is gone.',
})

/** From paid to announced: are merchants told? */
export const announcementAlarms = (watched: Watched): readonly AlarmSpec[] => [
  ...times(watched),
  deliveriesFailing(watched),
  deliveriesAbandoned(watched),
]
