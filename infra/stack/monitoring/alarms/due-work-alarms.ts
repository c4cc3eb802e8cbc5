import { MINUTE_MS } from '../../../../shared/time.ts'
import type { AlarmSpec, Severity } from './alarm-spec.ts'
import { type MetricRef, OVERALL, withoutGaps } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const late = (
  id: string,
  severity: Severity,
  measure: MetricRef,
  minutes: number,
  text: Pick<AlarmSpec, 'summary' | 'impact' | 'because'>,
): AlarmSpec => ({
  id,
  severity,
  ...text,
  measure,
  // A run that is missing is an alarm of its own.
  when: { above: minutes * MINUTE_MS, minutes: 5, periods: 2 },
})

/** The net under everything: what must be looked at by a certain time, and whether anything looks. */
export const dueWorkAlarms = ({ our }: Watched): readonly AlarmSpec[] => [
  late('alerts-late', 'ticket', our('AlertsLate', OVERALL, 'Maximum'), 15, {
    summary: 'Alerts to operators wait to be published.',
    impact: 'operators, who do not know of money in suspense or of deliveries given up.',
    because: 'Milliseconds. Due work tries again each minute; a quarter of an hour is fifteen failures.',
  }),
  late('deliveries-late', 'page', our('DeliveriesLate', OVERALL, 'Maximum'), 10, {
    summary: 'Deliveries are overdue and their messages do not arrive.',
    impact: 'merchants, who are told of payments late or not at all.',
    because: 'Milliseconds beyond the minute that a message has. A backlog of webhooks shows here first.',
  }),
  late('payment-checks-late', 'page', our('PaymentChecksLate', OVERALL, 'Maximum'), 15, {
    summary: 'Pending payments are not checked when they should be.',
    impact: 'customers whose callback was lost, and merchants whose payments do not expire.',
    because:
      'Milliseconds. What a burst leaves behind grows smaller each minute; a quarter of an hour is a quota too small.',
  }),
  {
    id: 'due-work-not-running',
    severity: 'page',
    summary: 'Nothing has looked after due work for ten minutes.',
    impact: 'everyone whose callback or message is lost: nothing repairs it.',
    measure: withoutGaps(our('DueWorkRuns', OVERALL, 'Sum')),
    when: { below: 1, minutes: 5, periods: 2 },
    because: 'It runs every minute. EventBridge may be late by one, a deployment by two; not by ten.',
    whenMissing: 'breaching',
  },
  {
    id: 'due-work-failing',
    severity: 'ticket',
    summary: 'Due work cannot finish some of its items.',
    impact: 'the merchants and customers of those items; all others are served.',
    measure: our('DueWorkFailures', OVERALL, 'Sum'),
    when: { atLeast: 10, minutes: 15, periods: 2 },
    because: 'One item that fails each minute makes fifteen in fifteen minutes, so a single bad row is seen.',
  },
]
