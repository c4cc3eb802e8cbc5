import { mutantsOf } from '../mutation/mutant.ts'

/** Callbacks say what to ask about, and answers of the provider prove what they say and no more. */
export const CALLBACK_MUTANTS = [
  ...mutantsOf('isKnownSecret', ['provider-secret'], {
    'any callback token will do': '_.includes(true) -> _.includes(false)',
    'the older of two callback tokens is refused': 'known.map(_) -> known.slice(0, 1).map(_)',
  }),
  ...mutantsOf('CallbackToken', ['provider-secret'], {
    'a callback token that can be guessed is believed': 'v.regex(_) -> v.regex(/^[!-~]{1,1024}$/)',
  }),
  ...mutantsOf('splitProviderSecret', ['provider-secret'], {
    'tokens that will be refused are left behind without a word': "found.kind === 'none' -> found.kind !== 'tokens'",
  }),
  ...mutantsOf('deploymentHandler', ['provider-secret'], {
    'a later deployment copies old tokens over new ones':
      "request.RequestType === 'Create' -> request.RequestType !== 'Delete'",
  }),
  ...mutantsOf('DeploymentSteps', ['deployment-steps'], {
    'functions change before the tokens are copied': 'drop for (const later of _) _',
  }),
  ...mutantsOf('originGuard', ['origin-guard'], {
    'a stage behind its front answers whoever asks': 'if (deps.stage.behindFront !== true) return -> return',
  }),
  ...mutantsOf('originSecrets', ['origin-guard'], {
    'the previous origin secret is refused while it is exchanged':
      'previous === undefined ? [current] : [current, previous] -> [current]',
  }),
  ...mutantsOf('httpEnvelope', ['api-envelope'], {
    'a balance may be kept by a cache on the way': "drop 'cache-control': 'no-store'",
  }),
  ...mutantsOf('receiveCallback', ['fuzz-callbacks'], {
    'a callback is not asked for its token': '!(await isCallbackToken(deps, input.token)) -> input.rawBody.length < 0',
  }),
  ...mutantsOf('apply', ['callback-ahead-of-its-provider'], {
    'a callback whose payment could not be asked about does not make it due': 'isBehind(..._) -> !paymentId',
    'the callback of a payment being created is acknowledged although its request is behind too':
      'const isLookedAt = _ -> const isLookedAt = unmarked === undefined || paymentId !== undefined',
    'a status callback about a payment that is terminal is asked about': 'await isNoNews(..._) -> !paymentId?.length',
    'the provider is not asked to send a callback again':
      "outcome.kind === 'not_found' && isLookedAt ? 'ignored' : 'ask_again' -> 'ignored'",
  }),
  ...mutantsOf('isBehind', ['callback-ahead-of-its-provider'], {
    'a callback that names money nobody confirms yet leaves its payment to its next regular check':
      'providerPaymentId !== undefined && !outcome.held && isOpen(outcome.payment) -> false',
    'the callback of money that is held already is asked for again': 'drop !outcome.held',
  }),
  ...mutantsOf('makeDue', ['callback-ahead-of-its-provider'], {
    'a payment being created forgets the money that is not shown yet':
      "outcome.kind === 'not_shown' -> outcome.kind === 'deferred'",
  }),
  ...mutantsOf('isNoNews', ['callback-ahead-of-its-provider'], {
    'a status callback about a payment that is pending is answered without asking': "drop stored.status !== 'pending'",
    'the callback of late money is answered without asking': {
      edit: 'drop providerPaymentId !== undefined',
      tests: ['callback-ahead-of-its-provider', 'held-money'],
    },
  }),
  ...mutantsOf('getById', ['xendit-failures'], {
    'an id of any form enters the path of a question': 'isProviderId(id) -> id',
  }),
  ...mutantsOf('xendit-provider/cancelRequest', ['xendit-failures'], {
    'an id of any form enters the path of a cancel': 'drop !isProviderId(id)',
  }),
  ...mutantsOf('cancelledOrFinal', ['xendit-objects'], {
    'a cancel counts as done although the request is open': "drop parsed.output.status === 'open'",
  }),
  ...mutantsOf('provider-failure/FAILURES', ['logged-provider'], {
    'a provider that has answered is the network':
      "rate_limited: { code: 'server_error', ..._ } -> rate_limited: { code: 'network', ..._ }",
  }),
  ...mutantsOf('rateLimits', ['xendit-failures'], {
    'the provider is asked on although it has said that nothing is left': 'drop remaining === 0',
    'what a header says can silence us for a day': 'Math.min(..._) -> Math.max(resetMs, SHORTEST_PAUSE_MS)',
  }),
  ...mutantsOf('xendit-schema/PaymentSchema', ['xendit-objects'], {
    'a payment without a capture counts as money': 'drop captures.length > 0',
  }),
  ...mutantsOf('TransactionSchema', ['xendit-transactions'], {
    'a fee counts as final although the provider has not settled': '_ && settled -> _',
    'a fee that is pending, cancelled or reversed counts as final': 'drop !FEE_NOT_FINAL.has(_)',
    'the fee of a refund counts as the payment’s': "drop type === 'payment'",
  }),
  ...mutantsOf('FEE_NOT_FINAL', ['xendit-transactions'], {
    'a fee that is cancelled or reversed counts as final': "new Set(_) -> new Set(['', 'PENDING'])",
  }),
  ...mutantsOf('readCreated', ['xendit-create'], {
    "a destination of somebody else's request is shown": 'drop echo.output.reference_id === asked.reference',
    'a destination for another amount is shown': 'drop echo.output.request_amount === asked.amountMinor',
  }),
]
