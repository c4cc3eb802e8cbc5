import type { AlarmSpec } from './alarm-spec.ts'
import { OVERALL, withoutGaps } from './metric-ref.ts'
import { functionNameOf, type Watched } from './watched.ts'

const HOUR = 60
const SYNC_LAG_MS = 15 * 60 * 1_000

const runs = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'sweep-not-run',
    severity: 'page',
    summary: 'The daily sweep of settlements has not run for more than a day.',
    impact: 'every merchant: nothing is settled, and nobody is paid out today.',
    measure: withoutGaps(our('SweepRuns', OVERALL, 'Sum')),
    when: { below: 1, minutes: HOUR, periods: 26 },
    because:
      'It runs at one time of day (sweepAtUtc). One period of a day slides, and two runs some seconds more than a day apart would leave it empty; so 26 hours, each without a run. Periods of an hour may look back a week.',
    whenMissing: 'breaching',
  },
  {
    id: 'sync-not-running',
    severity: 'ticket',
    summary: "The provider's transactions have not been read for half an hour.",
    impact: 'merchants whose settlement waits for actual fees; lost captures stay lost.',
    measure: withoutGaps(our('SyncRuns', OVERALL, 'Sum')),
    when: { below: 1, minutes: 15, periods: 2 },
    because: 'It runs every five minutes, and lost captures wait for it. It goes on where it was, so nothing is lost.',
    whenMissing: 'breaching',
  },
  {
    id: 'sync-incomplete',
    severity: 'ticket',
    summary: "Round after round, the provider's list of transactions is not read to its end.",
    impact: 'merchants whose settlement waits for actual fees; lost captures stay lost.',
    measure: our('SyncsIncomplete', OVERALL, 'Minimum'),
    when: { atLeast: 1, minutes: 15, periods: 4 },
    because: 'A run that was cut short is continued by the next; an hour without one that was not is no backlog.',
  },
  {
    id: 'sync-behind',
    severity: 'ticket',
    summary: 'Transactions are read more than fifteen minutes after the provider booked them.',
    impact: 'customers and merchants whose callback was lost: their payment is credited late.',
    measure: our('SyncLag', OVERALL, 'Maximum'),
    when: { above: SYNC_LAG_MS, minutes: 15, periods: 3 },
    because:
      'Milliseconds. A run reads what the five minutes before it brought; three quarters of an hour are no burst.',
  },
]

const results = (watched: Watched): readonly AlarmSpec[] => [
  {
    id: 'sweep-empty',
    severity: 'ticket',
    summary: 'The sweep of settlements ran and found no client at all.',
    impact: 'every merchant, once there are any: nobody is settled.',
    measure: watched.our('SweptClients', OVERALL, 'Sum'),
    when: { below: 1, minutes: HOUR, periods: 1 },
    because: 'A run counts as a run even if the index it reads is empty. Before the first client that is right.',
  },
  {
    id: 'settlements-failing',
    severity: 'page',
    summary: 'Settling fails for one client after another.',
    impact: 'merchants, who are not settled and not paid out today.',
    measure: watched.our(
      'FailedMessages',
      {
        function: functionNameOf(watched, ({ trigger }) => trigger.kind === 'queue' && trigger.queue === 'settlements'),
      },
      'Sum',
    ),
    when: { atLeast: 3, minutes: 15, periods: 1 },
    because: 'One that failed comes back after an hour, so three in a quarter of an hour are three clients.',
  },
]

const audits = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'audit-imbalance',
    severity: 'ticket',
    summary: 'The books of a merchant do not add up.',
    impact: 'a merchant, whose balance or payout may be wrong.',
    measure: our('AuditImbalances', OVERALL, 'Sum'),
    when: { atLeast: 1, minutes: HOUR, periods: 1 },
    because:
      'A difference was there twice, ten seconds apart, in books that stood still. The alert names the merchant; it comes each day until it is gone.',
  },
]

const suspense = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'suspense-money',
    severity: 'ticket',
    summary: 'Money was received that no merchant may be credited with.',
    impact: 'a customer, who paid for nothing until it is refunded.',
    measure: our('SuspenseItems', { kind: 'money' }, 'Sum'),
    when: { atLeast: 1, minutes: 5, periods: 1 },
    because: 'Each is somebody’s money. Hours do not matter to it, days do.',
  },
  {
    id: 'suspense-flood',
    severity: 'page',
    summary: 'Money that no merchant may be credited with keeps coming in.',
    impact: 'customers, who paid for nothing, and their merchants, who do not ship.',
    measure: our('SuspenseItems', { kind: 'money' }, 'Sum'),
    when: { atLeast: 10, minutes: HOUR, periods: 1 },
    because: 'Single ones are customers who paid twice or too late; ten in an hour are a fault of ours, and go on.',
  },
  {
    id: 'suspense-findings',
    severity: 'ticket',
    summary: 'The books and the provider disagree in many places at once.',
    impact: 'nobody yet: no money is held, but sums may be wrong or a key may be.',
    measure: our('SuspenseItems', { kind: 'finding' }, 'Sum'),
    when: { atLeast: 10, minutes: HOUR, periods: 1 },
    because: 'Each finding is announced by itself; ten in an hour have one cause, often a wrong or rotated key.',
  },
]

/** The daily sweep, the sync, the audit, and money in suspense. */
export const settlementAlarms = (watched: Watched): readonly AlarmSpec[] => [
  ...runs(watched),
  ...results(watched),
  ...audits(watched),
  ...suspense(watched),
]
