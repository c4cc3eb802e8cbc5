import { mutantsOf } from '../mutation/mutant.ts'

/** What a capture or a status means, and that it counts once. */
export const PROVIDER_NEWS_MUTANTS = [
  ...mutantsOf('leavePending', ['payment-store-visible'], {
    'a payment leaves pending more than once': 'mayBecome(payment.status) -> undefined',
    'a terminal payment stays due work': 'DUE_WORK_FIELDS -> []',
  }),
  ...mutantsOf('mayBecome', ['payment-store-visible'], {
    'a payment becomes cancelled although its expiry has begun':
      "status === 'cancelled' ? all(..._) : isPending -> isPending",
  }),
  ...mutantsOf('commitSucceeded', ['payment-store'], {
    'a payment being created succeeds although it is there already': 'drop isCreating',
    'a payment being created succeeds although another attempt took over': 'drop isAttempt(payment.attempt)',
    'a payment being created succeeds under a live lease': 'drop leaseIsOver(now)',
  }),
  ...mutantsOf('rememberCapture', ['payment-store'], {
    'a capture is remembered on a payment that is there already': 'isCreating -> undefined',
    'a remembered capture is not due work': { edit: 'drop ...dueWork(..._)', tests: ['create-payment-crashes'] },
  }),
  ...mutantsOf('decideOnNews', ['decide-on-news'], {
    'a closing status outranks a capture':
      "if (news.capture) return _ -> if (news.capture && news.requestStatus !== 'expired') return _",
    'a status changes a payment that is not pending':
      "payment?.status === 'pending' -> payment !== undefined && payment.status !== 'creating'",
  }),
  ...mutantsOf('mismatch', ['decide-on-news'], {
    'any currency is credited': "capture.currency !== 'IDR' -> capture.currency === ''",
    'less than the amount is credited as the amount': {
      edit: '_ === notionalMinor -> _ <= notionalMinor',
      tests: ['held-money'],
    },
    'more than the amount is credited as the amount':
      'capture.capturedMinor === notionalMinor -> capture.capturedMinor >= notionalMinor',
  }),
  ...mutantsOf('onCaptureWhileCreating', ['decide-on-news'], {
    'a wrong amount is credited while the payment is being created': 'drop cause !== undefined',
  }),
  ...mutantsOf('isCreatingUnderLease', ['create-payment-crashes'], {
    'a capture under a live lease is not remembered':
      'creating.leaseUntil !== undefined && creating.leaseUntil > now -> creating.leaseUntil === null',
    'a capture behind the lease is only remembered': 'drop creating.leaseUntil > now',
  }),
  ...mutantsOf('onCapture', ['decide-on-news'], {
    'the callback of a credited capture makes it a second one': "capture.providerPaymentId -> ''",
    'money for a closed payment is credited': "payment.status !== 'pending' -> payment.status === 'failed'",
    "another attempt's wrong amount closes the payment": "_ === payment.paymentRequestId -> _ !== ''",
  }),
  ...mutantsOf('onStatus', ['provider-news'], {
    "another attempt's status closes the payment": "_ !== payment.paymentRequestId -> _ === ''",
  }),
  ...mutantsOf('statusOfCancelled', ['expire-payment'], {
    'a cancel of ours counts as a failure':
      'drop payment.cancelRequestedAt !== undefined && payment.expiryStartedAt === undefined',
    'a cancel of our own expiry counts as its merchant’s': {
      edit: 'drop payment.expiryStartedAt === undefined',
      tests: ['decide-on-news'],
    },
    'a request cancelled upstream is a failure past its expiry too': {
      edit: 'isPastItsTime(..._) -> payment.expiresAt === now',
      tests: ['provider-news'],
    },
  }),
  ...mutantsOf('requestNews', ['ask-for-news'], {
    'a status closes a payment although nobody could be asked about the money': {
      edit: "drop latest.kind === 'unanswered'",
      tests: ['provider-news'],
    },
    'a payment that is not captured counts as money, asked for by the request':
      "drop latest.value.status === 'captured'",
    'a request that is paid without a capture is news like any other':
      "request.status === 'succeeded' -> request.status === undefined",
  }),
  ...mutantsOf('askForNews', ['ask-for-news'], {
    'a payment that is not captured counts as money, asked for by a callback':
      "drop answer.value.status === 'captured'",
    'a callback is applied by its own word when the provider cannot be asked about its payment': {
      edit: "drop answer.kind === 'unanswered'",
      tests: ['check-due-payment'],
    },
  }),
  ...mutantsOf('apply-provider-news/applyDecision', ['create-payment-crashes'], {
    'the request shown stays payable when another attempt was paid': {
      edit: "succeeded.paymentRequestId !== decision.capture.paymentRequestId -> succeeded.paymentRequestId === ''",
      diesWithin: 100,
    },
  }),
  ...mutantsOf('applyNews', ['held-money'], {
    'a lost race is not decided again':
      "if (step !== 'again') return step -> return step === 'again' ? { kind: 'applied', payment: stored } : step",
  }),
  ...mutantsOf('succeedPayment', ['provider-news'], {
    'a success carries no event': 'drop event: _',
    'the gross is credited and not the net': 'succeeded.netMinor -> succeeded.notionalMinor',
  }),
  ...mutantsOf('succeedCreatingPayment', ['create-payment-crashes'], {
    'a payment that succeeds out of its creation is credited nothing': 'drop ledger: _',
  }),
  ...mutantsOf('closePayment', ['provider-news'], {
    'a closed payment has no event': 'drop event: _',
    'a wrong amount fails the payment and is held nowhere': { edit: 'drop suspense: _', tests: ['held-money'] },
  }),
]
