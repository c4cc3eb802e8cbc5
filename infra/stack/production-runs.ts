/**
 * Runs at a time that `prod` sets aside, by function name (`reservedConcurrency` in infra/stack/stage.ts). Of
 * `accountConcurrency`; the rest stays for schedules and operators. Raise them with it.
 */
export const PRODUCTION_RUNS: Readonly<Record<string, number>> = {
  // While the provider is slow each create holds its environment for up to 22 s: unbounded, they would take them all.
  'api-create-payment': 240,
  'api-cancel-payment': 50,
  // Room of their own for those who read: a flood of lists takes nothing from a look at one payment.
  'api-get-payment': 35,
  'api-list-payments': 20,
  'api-get-balance': 10,
  'api-list-settlements': 5,
  'api-get-settlement': 5,
  'api-list-settlement-payments': 5,
  'api-list-balance-entries': 5,
  'api-list-events': 5,
  'api-list-webhook-endpoints': 2,
  'api-list-webhook-deliveries': 5,
  'api-get-webhook-delivery': 3,
  'api-redeliver-webhook': 3,
  // Money arriving: neither a flood of creates nor of reads may take its place. 200 at 0.2 s are 1,000 a second.
  'receive-provider-callback': 200,
  'api-not-found': 10, // Scanners; the route is throttled as well.
  // As many as their queues may start: with fewer, Lambda's own refusals would count as receives of a message.
  'deliver-webhook': 105,
  'settle-client': 10,
  'audit-client': 5,
  'sync-slices': 10,
}
