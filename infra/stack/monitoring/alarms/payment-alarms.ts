import type { AlarmSpec } from './alarm-spec.ts'
import { type OurMetric, OVERALL, orZero } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const callbacks = (our: OurMetric): readonly AlarmSpec[] => [
  {
    id: 'callbacks-refused',
    severity: 'ticket',
    summary: 'Callbacks arrive with a token that is not ours.',
    impact: 'customers whose payment shows as pending until due work asks about it, minutes later.',
    measure: our('CallbacksRefused', OVERALL, 'Sum'),
    when: { atLeast: 5, minutes: 60, periods: 1 },
    because:
      'In an hour, so that a quiet one counts too. A stranger can post to that address, so it never pages; a token rotated on one side refuses every one.',
  },
  {
    id: 'callbacks-missing',
    severity: 'ticket',
    summary: 'Most payments that succeeded were not heard of by a callback.',
    impact: 'customers whose payment shows as pending until due work asks about it, minutes later.',
    measure: {
      formula: `IF(${orZero('succeeded')} >= 10, 100 * (${orZero('succeeded')} - ${orZero('called')}) / ${orZero('succeeded')}, 0)`,
      of: {
        succeeded: our('Payments', { outcome: 'succeeded' }, 'Sum'),
        called: our('SuccessHeard', { source: 'callback' }, 'Sum'),
      },
    },
    when: { above: 50, minutes: 60, periods: 1 },
    because: 'Percent of at least ten in an hour. A lost one is ordinary and found; half of them have one cause.',
  },
  {
    id: 'provider-silent',
    severity: 'ticket',
    summary: 'The provider has called us for no payment in six hours, in which due work and sync found some paid.',
    impact: 'customers whose payment shows as pending until due work or the sync finds it, minutes later.',
    measure: {
      formula: `IF(${orZero('called')} < 1, ${orZero('succeeded')}, 0)`,
      of: {
        succeeded: our('Payments', { outcome: 'succeeded' }, 'Sum'),
        called: our('SuccessHeard', { source: 'callback' }, 'Sum'),
      },
    },
    when: { atLeast: 3, minutes: 360, periods: 1 },
    because:
      'Payments found without one callback: one or two are chance in a small stage, three are a setting that was changed.',
  },
]

/** Is money moving? Payments paid, and what the provider tells us about them. */
export const paymentAlarms = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'money-not-moving',
    severity: 'page',
    summary: 'Payments are created, but not one of them succeeded for an hour.',
    impact: 'customers who paid and see nothing, and merchants who do not ship.',
    measure: {
      formula: `IF(${orZero('created')} >= 20, IF(${orZero('succeeded')} < 1, ${orZero('created')}, 0), 0)`,
      of: {
        created: our('Payments', { outcome: 'created' }, 'Sum'),
        succeeded: our('Payments', { outcome: 'succeeded' }, 'Sum'),
      },
    },
    when: { above: 0, minutes: 60, periods: 1 },
    because: 'Created payments without a single success. Most customers pay within minutes: of twenty, one always has.',
  },
  ...callbacks(our),
]
