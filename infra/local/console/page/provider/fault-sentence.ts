const OF_A_CALL = {
  timeout_after_commit: 'It does what was asked, and its answer is lost.',
  timeout: 'It does nothing, and does not answer.',
  http_500: 'It does nothing, and answers 500.',
  http_503: 'It does nothing, and answers 503.',
  http_429: 'It does nothing, and answers 429: too many requests.',
  slow: 'It does what was asked, and answers so many milliseconds later.',
  refuse: 'It does nothing, and refuses with this error code.',
}

const SENTENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  create: OF_A_CALL,
  get: OF_A_CALL,
  cancel: OF_A_CALL,
  transactions: {
    ...OF_A_CALL,
    missing: 'A row is not in the list.',
    duplicate: 'A row is in the list twice.',
    wrong_amount: 'A row has another amount.',
    fee: 'A row has this fee in IDR.',
    fee_late: 'The fee of a row is final so many seconds later.',
    fee_invoiced: 'A row has no fee: the provider sends an invoice.',
    settle_now: 'A row settles at once, and its fee is final.',
  },
  callback: {
    lost: 'The callback does not come.',
    duplicate: 'The callback comes so many times.',
    delay: 'The callback comes so many seconds later.',
    reorder: 'The callback comes after the next one.',
    forged: 'A callback says that this payment was paid. It was not.',
    wrong_token: 'The callback has a wrong token.',
    legacy_names: 'The callback uses the names of an older version.',
  },
  payment: {
    wrong_amount: 'The customer pays this amount instead.',
    after_expiry: 'The customer can still pay after the end.',
  },
}

/** The effect of a fault, as a sentence. */
export const faultSentence = (target: string, fault: string): string => SENTENCES[target]?.[fault] ?? ''
