import type { AlarmSpec } from './alarm-spec.ts'
import { type OurMetric, OVERALL, orZero } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const callbacksRefused = (our: OurMetric): AlarmSpec => ({
  id: 'callbacks-refused',
  severity: 'ticket',
  says: 'Callbacks arrive with a token that is not ours.',
  suffers: 'customers whose payment shows as pending until due work asks about it, minutes later.',
  measure: our('CallbacksRefused', OVERALL, 'Sum'),
  is: 'at least',
  threshold: 10,
  because: 'A stranger can post to that address, so it never pages; a token rotated on one side refuses every one.',
  periodMinutes: 5,
  periods: 2,
  outOf: 3,
  whenMissing: 'notBreaching',
})

/** Is money moving? Payments created, paid, and what the provider tells us about them. */
export const paymentAlarms = ({ our }: Watched): readonly AlarmSpec[] => {
  const created = our('Payments', { outcome: 'created' }, 'Sum')
  const failed = our('Payments', { outcome: 'create_failed' }, 'Sum')
  const succeeded = our('Payments', { outcome: 'succeeded' }, 'Sum')
  return [
    {
      id: 'creates-failing',
      severity: 'page',
      says: 'More than a quarter of the payments that merchants try to create fail.',
      suffers: 'merchants and their customers, who cannot begin to pay.',
      measure: {
        formula: `IF(${orZero('failed')} + ${orZero('created')} >= 10, 100 * ${orZero('failed')} / (${orZero('failed')} + ${orZero('created')}), 0)`,
        of: { created, failed },
      },
      is: 'above',
      threshold: 25,
      because:
        'Percent. Fewer than ten tries say nothing; above that, one merchant whose creates are all refused counts too.',
      periodMinutes: 5,
      periods: 2,
      outOf: 3,
      whenMissing: 'notBreaching',
    },
    {
      id: 'money-not-moving',
      severity: 'page',
      says: 'Payments are created, but not one of them succeeded for an hour.',
      suffers: 'customers who paid and see nothing, and merchants who do not ship.',
      measure: {
        formula: `IF(${orZero('created')} >= 20, IF(${orZero('succeeded')} < 1, ${orZero('created')}, 0), 0)`,
        of: { created, succeeded },
      },
      is: 'above',
      threshold: 0,
      because:
        'Created payments without a single success. Most customers pay within minutes: of twenty, one always has.',
      periodMinutes: 60,
      periods: 1,
      whenMissing: 'notBreaching',
    },
    callbacksRefused(our),
  ]
}
