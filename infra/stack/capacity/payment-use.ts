/**
 * Request units of one payment in its whole life, with one endpoint, rounded up. DynamoDB limits the table and each
 * index separately. A figure is of the life that uses most: paid, or unpaid in one of the ways to pay. `npm run bench
 * -- units` measures them; a test of that bench compares.
 */
export const PAYMENT_UNITS = {
  writes: { table: 22.3, 'by-owner': 6.1, 'by-status': 6.1, 'by-open': 4, 'by-due': 10 },
  reads: 13.5,
  /** Of these, in the second in which it is created, by the table. */
  created: { writes: 7, reads: 2 },
  /** Of these, for each endpoint that its event goes to. */
  delivery: { writes: { table: 4, 'by-owner': 2, 'by-due': 3 }, reads: 2.5 },
} as const

/** Write units of one payment in one kind of key. Slots divide the keys of due work among them. */
export const KEY_UNITS = {
  duePayments: 7,
  dueDeliveries: 3,
  dueSync: 0.61,
  ledgerOfClient: 6,
} as const

/**
 * Seconds of function time of a payment, the wait for the provider included. They are assumed: replace them by the
 * metric `AWS/Lambda Duration` of your own stage.
 */
export const RUN_SECONDS = {
  'api-create-payment': 0.9,
  'receive-provider-callback': 0.4,
  'api-get-payment': 0.03,
} as const
