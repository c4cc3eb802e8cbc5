import type { AlarmSpec } from './alarm-spec.ts'
import { OVERALL } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const HOUR = 60

const runs = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'sweep-not-run',
    severity: 'page',
    says: 'The daily sweep of settlements has not run for more than a day.',
    suffers: 'every merchant: nothing is settled, and nobody is paid out today.',
    measure: our('SweepRuns', OVERALL, 'Sum'),
    is: 'below',
    threshold: 1,
    because:
      'It runs at 02:00 UTC. One period of a day slides, and two runs some seconds more than a day apart would leave it empty; so 26 hours, each without a run. Periods of an hour may look back a week.',
    periodMinutes: HOUR,
    periods: 26,
    whenMissing: 'breaching',
  },
  {
    id: 'sync-not-running',
    severity: 'ticket',
    says: "The provider's transactions have not been read for four hours.",
    suffers: 'merchants whose settlement waits for actual fees; lost captures stay lost.',
    measure: our('SyncRuns', OVERALL, 'Sum'),
    is: 'below',
    threshold: 1,
    because: 'It runs every hour and reads a day back, so a few hours lose nothing; it must be running by tomorrow.',
    periodMinutes: HOUR,
    periods: 4,
    whenMissing: 'breaching',
  },
  {
    id: 'sync-incomplete',
    severity: 'ticket',
    says: "Round after round, the provider's list of transactions is not read to its end.",
    suffers: 'merchants whose settlement waits for actual fees; lost captures stay lost.',
    measure: our('SyncsIncomplete', OVERALL, 'Minimum'),
    is: 'at least',
    threshold: 1,
    because: 'A round that was cut short is continued by the next; six in a row make no progress.',
    periodMinutes: HOUR,
    periods: 6,
    whenMissing: 'notBreaching',
  },
]

const suspense = ({ our }: Watched): readonly AlarmSpec[] => [
  {
    id: 'suspense-money',
    severity: 'ticket',
    says: 'Money was received that no merchant may be credited with.',
    suffers: 'a customer, who paid for nothing until it is refunded.',
    measure: our('SuspenseItems', { kind: 'money' }, 'Sum'),
    is: 'at least',
    threshold: 1,
    because: 'Each is somebody’s money. Hours do not matter to it, days do.',
    periodMinutes: 5,
    periods: 1,
    whenMissing: 'notBreaching',
  },
  {
    id: 'suspense-findings',
    severity: 'ticket',
    says: 'The books and the provider disagree in many places at once.',
    suffers: 'nobody yet: no money is held, but sums may be wrong or a key may be.',
    measure: our('SuspenseItems', { kind: 'finding' }, 'Sum'),
    is: 'at least',
    threshold: 10,
    because: 'Each finding is announced by itself; ten in an hour have one cause, often a wrong or rotated key.',
    periodMinutes: HOUR,
    periods: 1,
    whenMissing: 'notBreaching',
  },
]

/** The daily sweep, the hourly sync, and money that belongs to nobody yet. */
export const settlementAlarms = (watched: Watched): readonly AlarmSpec[] => [...runs(watched), ...suspense(watched)]
