import { MINUTE_MS } from '../../../shared/time.ts'
import { afterSweep, BUSY, DAY, every, gone, IDLE, once, SWEEP } from './calm-metrics.ts'

const MONEY = Object.keys(BUSY).filter((name) =>
  /^(Payments|SuccessHeard|TimeTo|Delivery|Provider)|create-payment/.test(name),
)
const NOTHING_ARRIVES = {
  ...gone(...MONEY, 'Count', '4xx', '5xx', 'AllowedRequests ALL', 'Requests', '5xxErrorRate'),
  'Errors probe-front': 1,
}
const NO_ANNOUNCEMENTS = gone(
  'TimeToAnnounce SampleCount',
  'TimeToAnnounce TC(:60000)',
  'DeliveryAttempts succeeded',
)
const NO_CREATES = { ...gone('Payments created'), 'Payments create_failed': 20 }

export type Failure = {
  readonly name: string
  readonly before?: typeof BUSY
  readonly during: typeof BUSY
  /** How long it lasts in the test, in minutes. */
  readonly lasts: number
  /** The alarms that go on, and the minutes within which each goes on. */
  readonly alarms: Readonly<Record<string, number>>
}

export const FAILURES: readonly Failure[] = [
  {
    name: 'no traffic at all with nothing wrong',
    before: IDLE,
    during: {},
    lasts: 30 * 60,
    alarms: {},
  },
  { name: 'traffic with nothing wrong', during: {}, lasts: 30 * 60, alarms: {} },
  {
    name: 'the front is dead, or DNS is gone',
    during: NOTHING_ARRIVES,
    lasts: 180,
    alarms: { 'probe-failing': 5, 'page-front': 5 },
  },
  {
    name: 'the certificate of the public name ended',
    during: { ...NOTHING_ARRIVES, 'DaysToExpiry public': 'missing' },
    lasts: 180,
    alarms: { 'probe-failing': 5, 'page-front': 5 },
  },
  {
    name: 'a certificate is not renewed',
    during: { 'DaysToExpiry shown': every(DAY / 2, 29.5) },
    lasts: DAY,
    alarms: { 'certificate-ends': DAY },
  },
  {
    name: 'the firewall blocks all',
    during: {
      ...NOTHING_ARRIVES,
      Requests: 60,
      '5xxErrorRate': 0,
      'BlockedRequests ALL': 60,
      'BlockedRequests AWSManagedRulesCommonRuleSet': 60,
    },
    lasts: 180,
    alarms: {
      'probe-failing': 5,
      'front-blocks': 15,
      'page-front': 5,
      'front-blocks-AWSManagedRulesCommonRuleSet': 30,
    },
  },
  {
    name: 'the firewall refuses one callback',
    during: { 'BlockedRequests ALL': once, 'BlockedRequests callbacks-per-address': once },
    lasts: 60,
    alarms: { 'front-blocks-callbacks-per-address': 15 },
  },
  {
    name: 'the throttle refuses 62 of 150 creates a second',
    during: {
      'Payments created': 5_280,
      'Payments succeeded': 4_000,
      'SuccessHeard callback': 4_000,
      'Invocations api-create-payment': 5_280,
      throttled: 3_720,
      'throttled-creates': 3_720,
      Count: 17_000,
      Requests: 17_000,
      'AllowedRequests ALL': 17_000,
      '4xx': 3_722,
    },
    lasts: 180,
    alarms: { 'requests-throttled': 10, 'requests-throttled-lasting': 15, 'page-money-in': 10 },
  },
  {
    name: 'the table refuses a quarter of the writes',
    during: {
      'WriteThrottleEvents by-due': 500,
      'Payments created': 15,
      'Payments create_failed': 5,
      '5xx': 5,
      '5xxErrorRate': 8,
    },
    lasts: 195,
    alarms: {
      'table-throttled': 3,
      'page-platform': 3,
      'api-errors': 12,
      'creates-answered-fast': 20,
      'page-money-in': 12,
      'creates-answered-slow': 45,
      'api-errors-lasting': 195,
    },
  },
  {
    name: 'the provider is down',
    during: {
      ...NO_CREATES,
      ...NO_ANNOUNCEMENTS,
      ...gone('Payments succeeded', 'SuccessHeard callback'),
      'ProviderErrors get_request Sum': 15,
      ...gone('ProviderErrors get_payment SampleCount', 'ProviderErrors get_payment Sum'),
      SyncsIncomplete: every(5, 1),
      '5xx': 20,
      '5xxErrorRate': 33,
    },
    lasts: 90,
    alarms: {
      'provider-failing': 10,
      'api-errors': 5,
      'front-errors': 10,
      'page-front': 10,
      'creates-answered-fast': 6,
      'page-money-in': 6,
      'creates-answered-slow': 15,
      'sync-late': 45,
    },
  },
  {
    name: 'the provider answers everything but cancels',
    during: { 'ProviderErrors cancel_request Sum': 2 },
    lasts: 60,
    alarms: { 'provider-failing': 10, 'page-money-in': 10 },
  },
  {
    name: 'the check of one payment fails every time',
    during: { DueWorkFailures: every(3, 1) },
    lasts: 90,
    alarms: { 'work-failing': 75 },
  },
  {
    name: 'callbacks are lost, and all merchants answer late',
    during: { 'SuccessHeard callback': 'missing', 'TimeToAnnounce TC(:60000)': 'missing' },
    lasts: 240,
    alarms: {
      'webhooks-in-time-fast': 27,
      'page-announcements': 27,
      'webhooks-in-time-slow': 75,
      'callbacks-missing': 195,
    },
  },
  {
    name: 'deliveries are stuck: no worker takes them',
    during: {
      ...NO_ANNOUNCEMENTS,
      // It is one delivery, and a run may be late.
      DeliveriesLate: (minute) => ([2, 5, 10, 20].includes(minute) ? minute * MINUTE_MS : 0),
      'ApproximateAgeOfOldestMessage webhooks': (minute) => minute * 60,
    },
    lasts: 120,
    alarms: { 'deliveries-late': 21, 'page-announcements': 21, 'messages-waiting': 35 },
  },
  {
    name: 'the topic of alerts refuses every alert',
    during: { AlertFailures: 1 },
    lasts: 60,
    alarms: { 'alerts-late': 15 },
  },
  {
    name: 'the sweep is missed',
    during: { SweptClients: 'missing', 'NumberOfMessagesDeleted settlements': 'missing' },
    lasts: 20 * 60,
    alarms: { 'sweep-not-run': 19 * 60, 'page-settlements': 19 * 60 },
  },
  {
    name: 'every run of settle-client is killed, so that none says that it failed',
    during: {
      // Each client is tried five times, half an hour apart.
      'Errors settle-client': (minute) =>
        (minute - SWEEP) % 30 === 5 ? afterSweep(0, 150, 3)(minute) : undefined,
      'NumberOfMessagesDeleted settlements': 'missing',
      'ApproximateNumberOfMessagesVisible settlements-dead': afterSweep(155, DAY, 3),
    },
    lasts: SWEEP + 240,
    alarms: {
      'settled-in-time-fast': SWEEP + 15,
      'page-settlements': SWEEP + 15,
      'settled-in-time-slow': SWEEP + 165,
      'messages-given-up-settlements': SWEEP + 165,
    },
  },
  {
    name: '1,900 of 4,000 clients are not settled, from the 35th minute after the sweep on',
    during: {
      SweptClients: every(DAY, 4_000, 2 * 60),
      'NumberOfMessagesDeleted settlements': afterSweep(0, 35, 60),
      'ApproximateNumberOfMessagesVisible settlements': afterSweep(0, 45, 2_000),
      'FailedMessages settle-client': (minute) =>
        (minute - SWEEP - 35) % 30 < 10 ? afterSweep(35, 185, 190)(minute) : undefined,
    },
    lasts: SWEEP + 180,
    alarms: { 'settled-in-time-fast': SWEEP + 45, 'page-settlements': SWEEP + 45 },
  },
  {
    name: 'three of 4,000 clients are not settled, which is no page',
    during: {
      SweptClients: every(DAY, 4_000, 2 * 60),
      'FailedMessages settle-client': (minute) =>
        (minute - SWEEP - 35) % 30 === 0 ? afterSweep(35, 185, 3)(minute) : undefined,
    },
    lasts: SWEEP + 180,
    alarms: {},
  },
  {
    name: 'the audit is dead: its run fails three times',
    during: {
      'ApproximateNumberOfMessagesVisible schedules-dead': (minute) =>
        minute >= 15 ? 1 : undefined,
      ...gone('AuditsCompleted client', 'AuditsCompleted gateway'),
    },
    lasts: 20 * 60,
    // The last audit was seven hours before.
    alarms: {
      'messages-given-up-schedules': 20,
      'audit-not-run-client': 19 * 60,
      'audit-not-run-gateway': 19 * 60,
      'page-settlements': 19 * 60,
    },
  },
  {
    name: 'the audit of the gateway is dead, and the clients are audited',
    during: gone('AuditsCompleted gateway'),
    lasts: 20 * 60,
    alarms: { 'audit-not-run-gateway': 19 * 60, 'page-settlements': 19 * 60 },
  },
  {
    name: 'EventBridge may not start a function',
    during: { 'FailedInvocations audit-clients': once },
    lasts: 30,
    alarms: { 'schedules-failing': 5 },
  },
  {
    name: 'the key is disabled',
    during: {
      ...gone(...MONEY, 'DueWorkRuns', 'SyncRuns', 'SyncsIncomplete', 'ConsumedReadCapacityUnits'),
      'Payments create_failed': 20,
      '5xx': 59,
      '5xxErrorRate': 98,
      'Errors probe-front': 1,
      'TriggeredRules protection': once,
    },
    lasts: 60,
    alarms: {
      'probe-failing': 5,
      'front-errors': 10,
      'page-front': 5,
      'api-errors': 5,
      'creates-answered-fast': 6,
      'page-money-in': 6,
      'creates-answered-slow': 15,
      'due-work-not-running': 10,
      'page-due-work': 10,
      'sync-late': 45,
      'protection-changed': 5,
      'page-platform': 5,
    },
  },
  {
    name: 'the backup is missing',
    during: { NumberOfCopyJobsCompleted: 'missing' },
    lasts: 30 * 60,
    // The last copy was six hours before.
    alarms: { 'backup-missing': 28 * 60 },
  },
  {
    name: 'one merchant’s endpoint is down, of several',
    during: {
      'DeliveryAttempts succeeded': 11,
      'DeliveryAttempts failed': 8,
      'TimeToAnnounce SampleCount': 11,
      'TimeToAnnounce TC(:60000)': 11,
    },
    lasts: 8 * 60,
    alarms: {},
  },
]
