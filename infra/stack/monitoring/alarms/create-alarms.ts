import type { AlarmSpec } from './alarm-spec.ts'
import { type Measure, type OurMetric, orZero } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** Percent of the creates that fail, once there were so many. Refusals of single payments are neither tried nor failed. */
const share = (our: OurMetric, least: number): Measure => {
  const tries = `(${orZero('failed')} + ${orZero('created')})`
  return {
    formula: `IF(${tries} >= ${least}, 100 * ${orZero('failed')} / ${tries}, 0)`,
    of: {
      created: our('Payments', { outcome: 'created' }, 'Sum'),
      failed: our('Payments', { outcome: 'create_failed' }, 'Sum'),
    },
  }
}

/** Percent of the creates that the provider refuses for what the payment is. */
const refusedShare = (our: OurMetric): Measure => {
  const tries = `(${orZero('refused')} + ${orZero('failed')} + ${orZero('created')})`
  return {
    formula: `IF(${tries} >= 20, 100 * ${orZero('refused')} / ${tries}, 0)`,
    of: {
      created: our('Payments', { outcome: 'created' }, 'Sum'),
      failed: our('Payments', { outcome: 'create_failed' }, 'Sum'),
      refused: our('Payments', { outcome: 'create_refused' }, 'Sum'),
    },
  }
}

/**
 * Can payments be created? What the provider refuses for what a payment is (its amount, its channel) counts apart: one
 * merchant's bug wakes nobody while others are served. The provider's word on our account counts as a failure.
 */
export const createAlarms = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'creates-failing',
    severity: 'page',
    summary: 'More than a quarter of the payments that merchants try to create fail.',
    impact: 'merchants and their customers, who cannot begin to pay.',
    measure: share(our, 10),
    when: { above: 25, minutes: 5, periods: 2, outOf: 3 },
    because: 'Percent of at least ten tries. Fewer are looked at over an hour.',
  },
  {
    id: 'creates-failing-for-an-hour',
    severity: 'page',
    summary: 'More than half of the few payments of an hour could not be created.',
    impact: 'merchants and their customers, who cannot begin to pay.',
    measure: share(our, 5),
    when: { above: 50, minutes: 60, periods: 1 },
    because: 'Percent of at least five tries: at night ten in five minutes may never come together.',
  },
  {
    id: 'creates-refused',
    severity: 'page',
    summary: 'The provider refuses almost every payment for what it is.',
    impact: 'merchants and their customers: next to nobody can begin to pay.',
    measure: refusedShare(our),
    when: { above: 90, minutes: 5, periods: 3 },
    because:
      'Percent of at least twenty. So many are no merchant’s mistake but ours, or the provider changed its rules.',
  },
]
