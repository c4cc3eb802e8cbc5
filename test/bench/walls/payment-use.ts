/**
 * Request units of one payment in its whole life, with one endpoint, rounded up. DynamoDB limits
 * the table and each index separately. Each figure is that of the life with the most units: a paid
 * life, or an unpaid life by one method. `npm run bench -- units` measures the figures; a test of
 * that bench compares them.
 */
export const PAYMENT_UNITS = {
  writes: { table: 22.3, 'by-owner': 6.1, 'by-status': 6.1, 'by-open': 4, 'by-due': 8 },
  reads: 13.5,
  /** Of these units, those for each endpoint of the event. */
  delivery: { writes: { table: 4, 'by-owner': 2, 'by-due': 3 }, reads: 2.5 },
} as const

/** Read units of thirty days of audits for one payment: `npm run bench -- growth`. */
export const AUDIT_READS_A_MONTH = 1.8

/**
 * Read units of one payment before its payout: by the payout itself, or, in a settlement of more
 * than 20,000 entries, by an audit of its own.
 */
export const PAYOUT_READS = 1.7

/** Write units of one payment in one kind of key. The slots of due work share its units. */
export const KEY_UNITS = {
  duePayments: 5,
  dueDeliveries: 3,
  dueSync: 0.19,
  ledgerOfClient: 6,
} as const

/**
 * Seconds of function time of a payment, with the wait for the provider. The figures are assumed:
 * replace them with the metric `AWS/Lambda Duration` of your own stage.
 */
export const RUN_SECONDS = {
  'api-create-payment': 0.9,
  'receive-provider-callback': 0.4,
  'api-get-payment': 0.03,
} as const
