import { mutantsOf } from '../mutation/mutant.ts'

/** Our own checks, and what is noted of cancels and expiries. */
export const DUE_WORK_MUTANTS = [
  ...mutantsOf('claimCheck', ['check-due-payment'], {
    'a check is claimed whatever its due time': "drop equals('dueAt', dueAt)",
    'an expiry begins although its merchant has asked for a cancel': "drop any(present('expiryStartedAt'), _)",
    'the expiry of a payment that has left pending begins by its claim': {
      edit: 'drop isPending',
      tests: ['check-due-payment'],
      equivalent: 'What leaves pending leaves due work in the same write, so that isDue refuses it already.',
    },
    'a check is claimed of what is no due work': {
      edit: "drop present('work')",
      tests: ['check-due-payment', 'payment-store-visible'],
      equivalent:
        'No write leaves due_at without work: both are set by dueWork() and removed by DUE_WORK_FIELDS together.',
    },
  }),
  ...mutantsOf('scheduleCheck', ['payment-store-visible'], {
    'a check is scheduled for a payment that is terminal': 'drop isPending',
    'a scheduled check overwrites another reason to look': { edit: 'drop equals(..._)', tests: ['check-due-payment'] },
  }),
  ...mutantsOf('endCheck', ['payment-store-visible'], {
    'the check of a payment being created ends although it is there': 'drop isCreating',
    'the check of a payment being created ends although it became due again': 'drop equals(..._)',
  }),
  ...mutantsOf('markDueNow', ['payment-store-visible'], { 'a terminal payment becomes due': 'drop isPending' }),
  ...mutantsOf('noteCancelRequested', ['payment-store-visible'], {
    'a cancel is noted on a terminal payment': { edit: 'drop isPending', tests: ['held-money'] },
    'a cancel is noted although the expiry has begun': 'drop expiryNotStarted',
    'the last cancel asked for counts, and not the first':
      "{ setIfAbsent: _, set: _ } -> { set: { cancelRequestedAt: now, ...dueWork('payment', paymentId, dueAt) } }",
    'nobody looks at a payment whose cancel was lost': {
      edit: 'drop set: _',
      tests: ['payment-store-visible', 'expire-payment'],
    },
  }),
  ...mutantsOf('noteExpiryStarted', ['payment-store-visible'], {
    'the expiry of a terminal payment begins': 'drop isPending',
    'the last beginning of an expiry counts, and not the first': 'setIfAbsent -> set',
  }),
  ...mutantsOf('askAboutOwnRequest', ['check-due-payment'], {
    'our own expiry is not enforced': 'drop isPastItsTime(..._)',
  }),
  ...mutantsOf('resultOf', ['callback-ahead-of-its-provider'], {
    'a payment whose money is not shown yet waits for its next regular check':
      "outcomes.some(_) ? 'not_shown' : 'checked' -> 'checked'",
  }),
  ...mutantsOf('checkPending', ['check-due-payment', 'remembered-captures'], {
    'a payment nobody could be asked about waits for its next regular check': "result === 'checked' -> result",
    'remembered captures are not asked about once the payment is there': 'drop ...(await askAboutRemembered(..._))',
  }),
  ...mutantsOf('askAboutRemembered', ['callback-ahead-of-its-provider'], {
    'a remembered capture is dropped at the first look that does not find it': '_ && isPatient -> _ && !isPatient',
  }),
  ...mutantsOf('checkCreating', ['check-due-payment', 'remembered-captures'], {
    'remembered captures are forgotten while nobody could be asked about them':
      "result === 'checked' && outcomes.every(_) -> outcomes.length > 0",
  }),
  ...mutantsOf('isUsualLook', ['check-due-payment', 'remembered-captures'], {
    'a callback that could not be asked about is forgotten when its process dies':
      'dueAt === usualCheckAt(payment) && _ -> true',
    'remembered captures are forgotten when their process dies':
      'drop payment.rememberedProviderPaymentIds === undefined',
  }),
  ...mutantsOf('isLateLook', ['due-work-quota'], {
    'a look in time is left out where questions are short': 'drop dueAt < addMs(now, -LATE_MS)',
  }),
  ...mutantsOf('claimFor', ['check-due-payment', 'expire-payment', 'remembered-captures'], {
    'the merchant’s cancel is taken for our own': '(expiryStartedAt ?? cancelRequestedAt) -> expiryStartedAt',
  }),
  ...mutantsOf('checkDuePayment', ['check-due-payment'], {
    'an item in trouble waits for its expiry': 'drop await scheduleRetry(..._)',
    'a payment is checked without a claim': 'const stored = _ -> const stored = parseStored(claimed.item)',
  }),
  ...mutantsOf('findDuePage', ['due-work-run'], {
    'due work is looked at before its time': { edit: 'drop range: _', histories: true },
  }),
  ...mutantsOf('checkDueWork', ['due-work-run'], {
    'a kind of due work that breaks off goes unnoticed': "drop if (kind.status === 'rejected') throw kind.reason",
  }),
  ...mutantsOf('handOutKind', ['due-work-run'], {
    'only the first slot of due work is handed out': 'length: WORK_SLOTS[work] -> length: 1',
  }),
  ...mutantsOf('readWindow', ['due-work-run'], {
    'only the first window of a slot is looked at': 'run.isAtEnd = page.cursor === undefined -> run.isAtEnd = true',
  }),
  ...mutantsOf('nextTurn', ['due-work-run'], {
    "a client's item waits behind all those of another": 'run.turns.owners < most -> run.turns.owners < 1',
    'what is too much of one client for one look is left to the next run': 'drop Object.assign(run, _)',
  }),
  ...mutantsOf('checkItem', ['due-work-run'], {
    "one item's trouble ends the run": 'run.failed++ -> throw cause',
  }),
  ...mutantsOf('drainSlot', ['due-work-quota'], {
    "payments are checked beyond the provider's quota": 'const admitted = _ -> const admitted = turn',
  }),
  ...mutantsOf('DUE_PAYMENTS', ['due-work-quota'], {
    "the provider's first 429 pauses nobody else": "drop if (result === 'rate_limited') await notePause(..._)",
  }),
]
