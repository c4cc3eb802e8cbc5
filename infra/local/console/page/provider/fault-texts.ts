/** When each group of faults acts. */
export const TARGETS: Readonly<Record<string, string>> = {
  create: 'When a payment is created',
  get: 'When a payment is read',
  cancel: 'When a payment is cancelled',
  transactions: 'When transactions are listed',
  callback: 'When the provider sends a callback',
  payment: 'When a customer pays',
}

const CALL_EFFECTS = {
  timeout_after_commit: 'The call has its effect, but the answer is lost.',
  timeout: 'The call has no effect and no answer.',
  http_500: 'The call has no effect. The answer is 500.',
  http_503: 'The call has no effect. The answer is 503.',
  http_429: 'The call has no effect. The answer is 429: too many requests.',
  slow: 'The call has its effect. The answer comes after this number of milliseconds.',
  refuse: 'The call has no effect. The answer has this error code.',
}

export const EFFECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create: {
    ...CALL_EFFECTS,
    failed: 'The payment fails at once. The answer has this failure code.',
  },
  get: CALL_EFFECTS,
  cancel: CALL_EFFECTS,
  transactions: {
    ...CALL_EFFECTS,
    missing: 'A row is not in the list.',
    duplicate: 'A row is in the list twice.',
    wrong_amount: 'A row has another amount.',
    fee: 'A row has this fee in IDR.',
    fee_late: 'The fee of a row is final after this number of seconds.',
    fee_invoiced: 'A row has no fee: the provider sends an invoice.',
    row_late: 'A row is in the list only after this number of seconds.',
    settle_now: 'A row settles at once, and its fee is final.',
  },
  callback: {
    lost: 'The callback is never sent.',
    duplicate: 'The callback is sent this number of times.',
    delay: 'The callback is sent after this number of seconds.',
    reorder: 'The callback is sent after the next one.',
    forged: 'A callback reports this payment as paid, but it was not paid.',
    wrong_token: 'The callback has a wrong token.',
    legacy_names: 'The callback uses the event names of an older version.',
  },
  payment: {
    wrong_amount: 'The customer pays this amount instead.',
    after_expiry: 'The customer can still pay after the expiry.',
    found_at_settlement: 'The provider finds the money only when it settles.',
  },
}
