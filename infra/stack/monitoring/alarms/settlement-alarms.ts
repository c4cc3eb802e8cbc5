import { MINUTE_MS } from '../../../../shared/time.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, countOf, OVERALL, orZero, withoutGaps } from './metric-ref.ts'
import type { Watched } from './watched.ts'

const sweep = ({ our }: Watched): AlarmSpec => ({
  id: 'sweep-not-run',
  page: 'page-settlements',
  summary: 'The daily sweep has put no client on the queue for more than a day.',
  impact: 'every merchant: no client is settled, and none is paid out today.',
  measure: withoutGaps(our('SweptClients', OVERALL, 'Sum')),
  unit: 'clients',
  when: { below: 1, minutes: 60, periods: 26 },
  because: 'It runs once a day (`sweepAtUtc`), some seconds earlier or later. A run that finds no client is none.',
  whenMissing: 'breaching',
  look: [
    'aws events describe-rule --name gateway-prod-sweep-settlements --query State',
    'aws logs tail /aws/lambda/gateway-prod-sweep-settlements --since 26h',
    'npm run -s admin -- list-clients --stage prod',
  ],
  act: [
    'Start it; a client that was swept already is not settled twice. In a new stage the alarm is on until the first client is registered and swept. Clients are listed and the sweep finds none: the index `by-owner` lacks them; [roll back](#roll-back) and settle by `trigger-settlement`.',
    'npm run -s admin -- sweep-settlements --stage prod',
    'npm run -s admin -- list-settlements --stage prod --status recorded',
  ],
})

const stuck = ({ queues }: Watched): AlarmSpec => {
  const QueueName = queues.settlements
  return {
    id: 'settlements-stuck',
    page: 'page-settlements',
    summary: 'Settlements wait in their queue and no worker takes them.',
    impact: 'every merchant: no client is settled, and none is paid out today.',
    measure: {
      formula: `IF(${orZero('waiting')} > 0, IF(${orZero('finished')} < 1, waiting, 0), 0)`,
      of: {
        waiting: awsMetric('AWS/SQS', 'ApproximateNumberOfMessagesVisible', { QueueName }, 'Minimum'),
        finished: awsMetric('AWS/SQS', 'NumberOfMessagesDeleted', { QueueName }, 'Sum'),
      },
    },
    unit: 'messages',
    when: { above: 0, minutes: 15, periods: 2 },
    because: 'A client takes some minutes. One that failed is hidden: settled-in-time counts those.',
    look: [
      "aws lambda list-event-source-mappings --function-name gateway-prod-settle-client --query 'EventSourceMappings[].[UUID,State]'",
      'aws logs tail /aws/lambda/gateway-prod-settle-client --since 1h',
    ],
    act: [
      'Event source off: `aws lambda update-event-source-mapping --uuid UUID --enabled`. Not started: [concurrency-near-limit](#concurrency-near-limit). Payout time is near: `trigger-settlement` for the large clients.',
    ],
  }
}

const LAG_MINUTES = 15

const sync = ({ our }: Watched): AlarmSpec => ({
  id: 'sync-behind',
  summary: 'The provider’s transactions are not read, not to their end, or late.',
  impact: 'merchants whose settlement waits for actual fees, and customers whose callback was lost.',
  measure: {
    formula: countOf([
      `${orZero('runs')} < 1`,
      `${orZero('incomplete')} > 0`,
      `${orZero('lag')} > ${LAG_MINUTES * MINUTE_MS}`,
    ]),
    of: {
      runs: our('SyncRuns', OVERALL, 'Sum'),
      incomplete: our('SyncsIncomplete', OVERALL, 'Minimum'),
      lag: our('SyncLag', OVERALL, 'Maximum'),
    },
  },
  unit: 'signs',
  when: { atLeast: 1, minutes: 15, periods: 3 },
  because: `No run, no run that was complete, or more than ${LAG_MINUTES} minutes between booking and reading. A run that was cut short is continued by the next.`,
  whenMissing: 'breaching',
  look: [
    'aws events describe-rule --name gateway-prod-sync-provider-transactions --query State',
    'filter message = "sync.completed" | stats count() as n, sum(transactions) as read, max(lag_ms) as lag by end, bin(15m)',
    '`rate_limited`: the quota (`providerCallsPerMinute`). `provider_silent`: the provider. `refused`: [provider-refuses-calls](#provider-refuses-calls). `out_of_time`: a backlog, it catches up.',
  ],
  act: [
    'Start it by hand, several times side by side for a backlog; it goes on where it stopped, so nothing is lost.',
    'npm run -s admin -- sync-provider-transactions --stage prod',
  ],
})

const suspense = ({ our }: Watched): AlarmSpec => ({
  id: 'suspense-flood',
  page: 'page-settlements',
  summary: 'Money that no merchant may be credited with keeps coming in.',
  impact: 'customers, who paid for nothing, and their merchants, who do not ship.',
  measure: our('SuspenseItems', { kind: 'money' }, 'Sum'),
  unit: 'items',
  when: { atLeast: 10, minutes: 60, periods: 1 },
  because: 'Single ones are customers, and each has an alert. Ten in an hour are a fault, and go on.',
  look: [
    'filter message = "suspense.recorded" | stats count() as n by kind, cause | sort n desc',
    '`wrong_amount`: the provider takes another amount. `payment_not_pending`: payments end before they are paid. `second_capture`: customers are asked twice. `unknown_reference`: another system uses the account.',
  ],
  act: [
    'After a release: [roll back](#roll-back). The provider: open a ticket with it, and tell merchants to stop the channel. Then handle [each item](#suspense).',
  ],
})

/** The sweep, the sync, the audit, and money in suspense. */
export const settlementAlarms = (watched: Watched): readonly AlarmSpec[] => [
  sweep(watched),
  stuck(watched),
  sync(watched),
  {
    id: 'audit-imbalance',
    summary: 'The books of a merchant do not add up.',
    impact: 'a merchant, whose balance or payout may be wrong.',
    measure: watched.our('AuditImbalances', OVERALL, 'Sum'),
    unit: 'clients',
    when: { atLeast: 1, minutes: 60, periods: 1 },
    because: 'A difference was there twice in books that stood still. The alert names the merchant, each day anew.',
    look: [
      'npm run -s admin -- audit-ledger --stage prod --client_id CLIENT_ID',
      'npm run -s admin -- list-settlements --stage prod --client_id CLIENT_ID',
      '`audit_record`: a person wrote to the table past the gateway; `list-audit --subject` of that id and the account’s trail show who.',
    ],
    act: [
      'Pay out nothing to that merchant. Keep the output, do not repair by hand, and call the owner of the code. Several merchants on the day of a release: [roll back](#roll-back).',
      'After a restore: `recount-ledger` repairs torn rows ([operations](operations.md), section 7, step 5).',
      'Once finance can explain it, `accept-difference` lets payouts go on; it is void when the figures change.',
    ],
  },
  suspense(watched),
]
