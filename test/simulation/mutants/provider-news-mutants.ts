import { mutantsOf } from '../mutation/mutant.ts'

const NEWS = 'integration/payment/provider-news'
const HELD = 'integration/payment/held-money'
const WHILE_CREATING = 'integration/create/capture-while-creating'
const DECIDE = 'unit/payment/decide-on-news'
const DUE = 'integration/payment/check-due-work'

/** What a capture or a status means, and that it counts once. */
export const PROVIDER_NEWS_MUTANTS = [
  ...mutantsOf('shared/payment/payment-store.ts', [
    {
      name: 'a payment leaves pending more than once',
      find: 'remove: DUE_WORK_FIELDS,\n    },\n    mayBecome(payment.status),\n  )',
      replace: 'remove: DUE_WORK_FIELDS,\n    },\n    undefined,\n  )',
      tests: ['integration/payment/payment-store-visible'],
    },
    {
      name: 'a terminal payment stays due work',
      find: 'remove: DUE_WORK_FIELDS,\n    },\n    mayBecome(payment.status),\n  )',
      replace: 'remove: [],\n    },\n    mayBecome(payment.status),\n  )',
      tests: ['integration/payment/payment-store-visible'],
    },
    {
      name: 'a payment becomes cancelled although its expiry has begun',
      find: "status === 'cancelled' ? all(isPending, expiryNotStarted) : isPending",
      replace: 'status ? isPending : isPending',
      tests: ['integration/payment/payment-store-visible'],
    },
    {
      name: 'a payment being created succeeds although it is there already',
      find: 'all(isCreating, isAttempt(payment.attempt), leaseIsOver(now))',
      replace: 'all(isAttempt(payment.attempt), leaseIsOver(now))',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a payment being created succeeds although another attempt took over',
      find: 'all(isCreating, isAttempt(payment.attempt), leaseIsOver(now))',
      replace: 'all(isCreating, leaseIsOver(now))',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a payment being created succeeds under a live lease',
      find: 'all(isCreating, isAttempt(payment.attempt), leaseIsOver(now))',
      replace: 'all(isCreating, isAttempt(payment.attempt))',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a capture is remembered on a payment that is there already',
      find: "set: { id: creating.paymentId, ...dueWork('payment', creating.paymentId, dueAt) },\n      },\n      isCreating,",
      replace:
        "set: { id: creating.paymentId, ...dueWork('payment', creating.paymentId, dueAt) },\n      },\n      undefined,",
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a remembered capture is not due work',
      find: "set: { id: creating.paymentId, ...dueWork('payment', creating.paymentId, dueAt) },",
      replace: 'set: { id: creating.paymentId },',
      tests: [WHILE_CREATING],
    },
  ]),
  ...mutantsOf('shared/payment/news/decide-on-news.ts', [
    {
      name: 'a closing status outranks a capture',
      find: 'if (news.capture) return onCapture(',
      replace: "if (news.capture && news.requestStatus !== 'expired') return onCapture(",
      tests: [DECIDE],
    },
    {
      name: 'any currency is credited',
      find: "if (capture.currency !== 'IDR') return 'wrong_currency'",
      replace: "if (capture.currency === '') return 'wrong_currency'",
      tests: [DECIDE],
    },
    {
      name: 'less than the amount is credited as the amount',
      find: 'return capture.capturedMinor === notionalMinor ?',
      replace: 'return capture.capturedMinor <= notionalMinor ?',
      tests: [HELD],
    },
    {
      name: 'more than the amount is credited as the amount',
      find: 'return capture.capturedMinor === notionalMinor ?',
      replace: 'return capture.capturedMinor >= notionalMinor ?',
      tests: [DECIDE],
    },
    {
      name: 'a wrong amount is credited while the payment is being created',
      find: "if (cause !== undefined) return { do: 'hold', capture, cause }\n  return { do: isCreatingUnderLease",
      replace: 'return { do: isCreatingUnderLease',
      tests: [DECIDE],
    },
    {
      name: 'a capture under a live lease is not remembered',
      find: 'creating.leaseUntil !== undefined && creating.leaseUntil > now',
      replace: 'creating.leaseUntil === null',
      tests: [WHILE_CREATING],
    },
    {
      name: 'a capture behind the lease is only remembered',
      find: 'creating.leaseUntil !== undefined && creating.leaseUntil > now',
      replace: 'creating.leaseUntil !== undefined',
      tests: [WHILE_CREATING],
    },
    {
      name: 'the callback of a credited capture makes it a second one',
      find: 'if (payment.creditedProviderPaymentId === capture.providerPaymentId) return NOTHING',
      replace: "if (payment.creditedProviderPaymentId === '') return NOTHING",
      tests: [NEWS],
    },
    {
      name: 'money for a closed payment is credited',
      find: "if (payment.status !== 'pending') return",
      replace: "if (payment.status === 'failed') return",
      tests: [HELD],
    },
    {
      name: "another attempt's wrong amount closes the payment",
      find: 'return capture.paymentRequestId === payment.paymentRequestId',
      replace: "return capture.paymentRequestId !== ''",
      tests: [HELD],
    },
    {
      name: "another attempt's status closes the payment",
      find: 'if (news.paymentRequestId !== payment.paymentRequestId) return NOTHING',
      replace: "if (news.paymentRequestId === '') return NOTHING",
      tests: [NEWS],
    },
    {
      name: 'a cancel of ours counts as a failure',
      find: "if (payment.cancelRequestedAt !== undefined && payment.expiryStartedAt === undefined) return 'cancelled'\n",
      replace: '',
      tests: ['integration/payment/cancel-payment'],
    },
    {
      name: 'a cancel of our own expiry counts as its merchant’s',
      find: 'payment.cancelRequestedAt !== undefined && payment.expiryStartedAt === undefined',
      replace: 'payment.cancelRequestedAt !== undefined',
      tests: [DECIDE],
    },
    {
      name: 'a request cancelled upstream is a failure past its expiry too',
      find: "isPastItsTime(payment, now) ? 'expired' : 'failed'",
      replace: "payment.expiresAt === now ? 'expired' : 'failed'",
      tests: [NEWS],
    },
    {
      name: 'a status changes a payment that is not pending',
      find: "payment?.status === 'pending' ? onStatus",
      replace: "payment !== undefined && payment.status !== 'creating' ? onStatus",
      tests: [DECIDE],
    },
  ]),
  ...mutantsOf('shared/payment/news/ask-for-news.ts', [
    {
      name: 'a status closes a payment although nobody could be asked about the money',
      find: "if (latest.kind === 'unanswered') return latest",
      replace: '',
      tests: [NEWS],
    },
    {
      name: 'a payment that is not captured counts as money, asked for by the request',
      find: "latest.kind === 'found' && latest.value.status === 'captured' ?",
      replace: "latest.kind === 'found' ?",
      tests: ['unit/payment/ask-for-news'],
    },
    {
      name: 'a payment that is not captured counts as money, asked for by a callback',
      find: "if (answer.kind === 'found' && answer.value.status === 'captured') return captureNews(answer.value)",
      replace: "if (answer.kind === 'found') return captureNews(answer.value)",
      tests: ['unit/payment/ask-for-news'],
    },
    {
      name: 'a callback is applied by its own word when the provider cannot be asked about its payment',
      find: "    if (answer.kind === 'unanswered') return answer\n",
      replace: '',
      tests: [DUE],
    },
  ]),
  ...mutantsOf('shared/payment/news/ask-for-news.ts', [
    {
      name: 'a request that is paid without a capture is news like any other',
      find: "request.status === 'succeeded' ? { kind: 'not_shown' } :",
      replace: "request.status === undefined ? { kind: 'not_shown' } :",
      tests: ['unit/payment/ask-for-news'],
    },
  ]),
  ...mutantsOf('shared/payment/news/apply-provider-news.ts', [
    {
      name: 'the request shown stays payable when another attempt was paid',
      find: 'if (succeeded && succeeded.paymentRequestId !== decision.capture.paymentRequestId) {',
      replace: "if (succeeded && succeeded.paymentRequestId === '') {",
      tests: [WHILE_CREATING],
    },
    {
      name: 'a lost race is not decided again',
      find: "if (step !== 'again') return step",
      replace: "return step === 'again' ? { kind: 'applied', payment: stored } : step",
      tests: ['integration/payment/payment-races'],
    },
  ]),
  ...mutantsOf('shared/payment/news/succeed-payment.ts', [
    {
      name: 'a success carries no event',
      find: "ledger: credit({ ...succeeded, from: 'pending' }, succeeded.netMinor, now),\n      event: putEvent(succeeded, deps.newId(), now),",
      replace: "ledger: credit({ ...succeeded, from: 'pending' }, succeeded.netMinor, now),",
      tests: [NEWS],
    },
    {
      name: 'the gross is credited and not the net',
      find: "credit({ ...succeeded, from: 'pending' }, succeeded.netMinor, now)",
      replace: "credit({ ...succeeded, from: 'pending' }, succeeded.notionalMinor, now)",
      tests: [NEWS],
    },
    {
      name: 'a payment that succeeds out of its creation is credited nothing',
      find: '    ledger: credit({ ...succeeded, from: undefined }, succeeded.netMinor, now),\n',
      replace: '',
      tests: [WHILE_CREATING],
    },
  ]),
  ...mutantsOf('shared/payment/news/close-payment.ts', [
    {
      name: 'a closed payment has no event',
      find: '    event: putEvent(closed, deps.newId(), now),\n',
      replace: '',
      tests: [NEWS],
    },
    {
      name: 'a wrong amount fails the payment and is held nowhere',
      find: '    suspense: held && ensureSuspense(held),\n',
      replace: '',
      tests: ['integration/payment/payment-races'],
    },
  ]),
]
