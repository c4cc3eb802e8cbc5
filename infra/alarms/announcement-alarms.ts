import type { AlarmSpec } from './alarm-spec.ts'
import { OVERALL } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const times = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'announcements-slow',
    severity: 'page',
    says: 'Half of the merchants are told of a payment more than half a minute after it was paid.',
    suffers: 'every merchant, and customers who wait at a counter or a checkout page.',
    measure: our('TimeToAnnounce', OVERALL, 'p50'),
    is: 'above',
    threshold: 30_000,
    because: 'Milliseconds at the median: no single merchant can cause it, only we can. A second is normal.',
    periodMinutes: 5,
    periods: 3,
    whenMissing: 'notBreaching',
  },
  {
    id: 'announcements-late',
    severity: 'ticket',
    says: 'One in a hundred payments is announced more than two minutes after it was paid.',
    suffers: 'some merchants, most often those whose own endpoint fails at first.',
    measure: our('TimeToAnnounce', OVERALL, 'p99'),
    is: 'above',
    threshold: 120_000,
    because:
      'Milliseconds at the 99th percentile: more than a first retry after 60 s. One large merchant can cause it.',
    periodMinutes: 15,
    periods: 2,
    whenMissing: 'notBreaching',
  },
]

const failures = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'deliveries-abandoned',
    severity: 'ticket',
    says: 'Deliveries failed eight times over two hours and were given up.',
    suffers: 'merchants who were never told of payments, until they are sent again.',
    measure: our('DeliveryAttempts', { outcome: 'abandoned' }, 'Sum'),
    is: 'at least',
    threshold: 10,
    because:
      'Each abandoned one is announced by itself on the alert topic; ten in an hour are an endpoint that is gone.',
    periodMinutes: 60,
    periods: 1,
    whenMissing: 'notBreaching',
  },
  {
    id: 'fan-out-failing',
    severity: 'ticket',
    says: 'Events could not be handed to all endpoints of their merchant.',
    suffers: 'merchants, who are told minutes later, by due work.',
    measure: our('FanOutFailures', OVERALL, 'Sum'),
    is: 'at least',
    threshold: 5,
    because: 'Each is tried again by the stream and then by due work; several in five minutes are not chance.',
    periodMinutes: 5,
    periods: 2,
    outOf: 3,
    whenMissing: 'notBreaching',
  },
]

/** From paid to announced: are merchants told? */
export const announcementAlarms = (watched: Watched): readonly AlarmSpec[] => [...times(watched), ...failures(watched)]
