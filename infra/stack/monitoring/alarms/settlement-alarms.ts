import { MINUTE_MS } from '../../../../shared/time.ts'
import type { Watched } from '../watched-stack.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, countOf, OVERALL, orZero, withoutGaps } from './metric-ref.ts'

/** The sweep, the sync, the audit, and money in suspense. */
export function settlementAlarms(watched: Watched): readonly AlarmSpec[] {
  return [
    sweepNotRun(watched),
    settlementsStuck(watched),
    syncLate(watched),
    auditNotRun(watched, 'client'),
    auditNotRun(watched, 'gateway'),
    {
      id: 'audit-imbalance',
      summary: 'The books of a merchant do not add up.',
      impact: 'a merchant, whose balance or payout may be wrong.',
      measure: watched.our('AuditImbalances', OVERALL, 'Sum'),
      unit: 'clients',
      when: { atLeast: 1, minutes: 60, periods: 1 },
      because:
        'The audit saw the difference twice while the books did not change. The alert names ' +
        'the merchant, every day.',
    },
    suspenseFlood(watched),
  ]
}

function sweepNotRun({ our }: Watched): AlarmSpec {
  return {
    id: 'sweep-not-run',
    page: 'page-settlements',
    summary: 'The daily sweep has put no client on the queue for more than a day.',
    impact: 'every merchant: no client is settled, and none is paid out today.',
    measure: withoutGaps(our('SweptClients', OVERALL, 'Sum')),
    unit: 'clients',
    when: { below: 1, minutes: 60, periods: 26 },
    because:
      'It runs once a day (`sweepAtUtc`), some seconds earlier or later. A run that finds no ' +
      'client does not count.',
    whenMissing: 'breaching',
  }
}

function settlementsStuck({ queues }: Watched): AlarmSpec {
  const QueueName = queues.settlements
  return {
    id: 'settlements-stuck',
    page: 'page-settlements',
    summary: 'Settlements wait in their queue and no worker takes them.',
    impact: 'every merchant: no client is settled, and none is paid out today.',
    measure: {
      formula: `IF(${orZero('waiting')} > 0, IF(${orZero('finished')} < 1, waiting, 0), 0)`,
      metrics: {
        waiting: awsMetric(
          'AWS/SQS',
          'ApproximateNumberOfMessagesVisible',
          { QueueName },
          'Minimum',
        ),
        finished: awsMetric('AWS/SQS', 'NumberOfMessagesDeleted', { QueueName }, 'Sum'),
      },
    },
    unit: 'messages',
    when: { above: 0, minutes: 15, periods: 2 },
    because:
      'A client takes some minutes. SQS hides a client that failed; settled-in-time counts those.',
  }
}

const LAG_MINUTES = 15

function syncLate({ our }: Watched): AlarmSpec {
  return {
    id: 'sync-late',
    summary:
      'The sync does not read the transactions of the provider, reads only a part, or reads ' +
      'them late.',
    impact:
      'merchants whose settlement waits for actual fees, and customers whose callback was lost.',
    measure: {
      formula: countOf([
        `${orZero('runs')} < 1`,
        `${orZero('incomplete')} > 0`,
        `${orZero('lag')} > ${LAG_MINUTES * MINUTE_MS}`,
      ]),
      metrics: {
        runs: our('SyncRuns', OVERALL, 'Sum'),
        incomplete: our('SyncsIncomplete', OVERALL, 'Minimum'),
        lag: our('SyncLag', OVERALL, 'Maximum'),
      },
    },
    unit: 'signs',
    when: { atLeast: 1, minutes: 15, periods: 3 },
    because: `The signs: no run, no complete run, or more than ${LAG_MINUTES} minutes between booking and reading. The next run continues an incomplete run.`,
    whenMissing: 'breaching',
  }
}

/**
 * One alarm for each kind of audit: in one alarm both would have to end within the same hour,
 * wherever it begins, so a short gap between them would turn it on.
 */
function auditNotRun({ our }: Watched, of: 'client' | 'gateway'): AlarmSpec {
  return {
    id: `audit-not-run-${of}`,
    heading: 'audit-not-run',
    page: 'page-settlements',
    summary: `No daily audit of ${of === 'client' ? 'a client' : 'the gateway'} has ended for 25 hours.`,
    impact: 'every merchant: without an audit within 26 hours no settlement is paid out.',
    measure: withoutGaps(our('AuditsCompleted', { audit_of: of }, 'Sum')),
    unit: 'audits',
    when: { below: 1, minutes: 60, periods: 25 },
    because: 'It runs once a day (`auditAtUtc`). The payout gate waits an hour longer.',
    whenMissing: 'breaching',
  }
}

function suspenseFlood({ our }: Watched): AlarmSpec {
  return {
    id: 'suspense-flood',
    page: 'page-settlements',
    summary: 'Much money arrives that the gateway cannot credit to a merchant.',
    impact: 'customers, who paid and get nothing, and merchants, who do not ship.',
    measure: our('SuspenseItems', { kind: 'money' }, 'Sum'),
    unit: 'items',
    when: { atLeast: 10, minutes: 60, periods: 1 },
    because:
      'Single items are customers’ mistakes, and each has an alert. Ten in an hour are a ' +
      'fault that lasts.',
  }
}
