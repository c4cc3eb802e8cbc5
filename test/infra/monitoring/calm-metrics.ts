/** What a metric does each minute after the failure began, or before it in a minute below zero. */
type Values = Readonly<
  Record<string, number | 'missing' | ((minute: number) => number | undefined)>
>

/** The minute of the day in which each failure begins. */
const BEGINS = 10 * 60
export const DAY = 24 * 60
/** The minute of a failure in which the next sweep queues the clients: at 02:00. */
export const SWEEP = DAY + 2 * 60 - BEGINS

export function every(minutes: number, value: number, first = 0) {
  return (minute: number) =>
    (((minute + BEGINS - first) % minutes) + minutes) % minutes === 0 ? value : undefined
}

export function once(minute: number) {
  return minute === 0 ? 1 : undefined
}

export function gone(...metrics: readonly string[]): Values {
  return Object.fromEntries(metrics.map((name) => [name, 'missing']))
}

export function afterSweep(from: number, to: number, value: number) {
  return (minute: number) => (minute >= SWEEP + from && minute < SWEEP + to ? value : undefined)
}

/** No merchant sends anything, and nothing is wrong: schedules and the probe run. */
export const IDLE: Values = {
  DueWorkRuns: 1,
  SyncRuns: every(5, 1),
  SyncsIncomplete: every(5, 0),
  SweptClients: every(DAY, 3, 2 * 60),
  'NumberOfMessagesDeleted settlements': every(DAY, 3, 2 * 60 + 1),
  'AuditsCompleted client': every(DAY, 3, 3 * 60),
  // The kinds of audits never end in the same minute.
  'AuditsCompleted gateway': every(DAY, 1, 3 * 60 + 2),
  UnreservedConcurrentExecutions: 2,
  ConsumedReadCapacityUnits: 60,
  NumberOfCopyJobsCompleted: every(DAY, 1, 4 * 60),
  DaysToExpiry: every(DAY / 2, 200),
  'Invocations probe-front': 1,
  'Errors probe-front': 0,
  Requests: 2,
  '5xxErrorRate': 0,
  'AllowedRequests ALL': 2,
  Count: 2,
  '4xx': 1,
  '5xx': 0,
}

export const BUSY: Values = {
  ...IDLE,
  'Payments created': 20,
  'Payments succeeded': 15,
  'SuccessHeard callback': 15,
  'TimeToAnnounce SampleCount': 15,
  'TimeToAnnounce TC(:60000)': 15,
  'DeliveryAttempts succeeded': 15,
  'ProviderErrors get_request SampleCount': 15,
  'ProviderErrors get_request Sum': 0,
  'ProviderErrors get_payment SampleCount': 15,
  'ProviderErrors get_payment Sum': 0,
  'ProviderErrors cancel_request SampleCount': 2,
  'Invocations api-create-payment': 20,
  'Errors api-create-payment': 0,
  'Throttles api-create-payment': 0,
  ConsumedWriteCapacityUnits: 900,
  Requests: 60,
  'AllowedRequests ALL': 60,
  Count: 60,
  '4xx': 2,
}
