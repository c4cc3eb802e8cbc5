import { mutantsOf } from '../mutation/mutant.ts'

const DUE = 'integration/payment/check-due-work'
const AHEAD = 'integration/payment/callback-ahead-of-its-provider'

/** Callbacks say what to ask about, and answers of the provider prove what they say and no more. */
export const CALLBACK_MUTANTS = [
  ...mutantsOf('shared/same-secret.ts', [
    {
      name: 'any callback token will do',
      find: '.includes(true)',
      replace: '.includes(false)',
      tests: [DUE],
    },
    {
      name: 'the older of two callback tokens is refused',
      find: 'return known.map(',
      replace: 'return known.slice(0, 1).map(',
      tests: ['unit/provider/provider-secret'],
    },
  ]),
  ...mutantsOf('shared/provider/callback-secret.ts', [
    {
      name: 'a callback token that can be guessed is believed',
      find: '{16,1024}',
      replace: '{1,1024}',
      tests: ['unit/provider/provider-secret'],
    },
  ]),
  ...mutantsOf('shared/provider/split-provider-secret.ts', [
    {
      name: 'tokens that will be refused are left behind without a word',
      find: "if (found.kind === 'none') return",
      replace: "if (found.kind !== 'tokens') return",
      tests: ['unit/provider/split-provider-secret'],
    },
  ]),
  ...mutantsOf('shared/runtime/deployment-handler.ts', [
    {
      name: 'a later deployment copies old tokens over new ones',
      find: "request.RequestType === 'Create' ?",
      replace: "request.RequestType !== 'Delete' ?",
      tests: ['unit/provider/split-provider-secret'],
    },
  ]),
  ...mutantsOf('infra/stack/functions/deployment-steps.ts', [
    {
      name: 'functions change before the tokens are copied',
      find: "      for (const later of functions.exceptTriggeredBy('deployment')) later.node.addDependency(step)\n",
      replace: '      step.node.addMetadata("alone", true)\n',
      tests: ['infra/operate/deployment-steps'],
    },
  ]),
  ...mutantsOf('shared/runtime/origin-guard.ts', [
    {
      name: 'a stage behind its front answers whoever asks',
      find: 'if (deps.stage.behindFront !== true) return',
      replace: 'return',
      tests: ['unit/runtime/origin-guard'],
    },
    {
      name: 'the previous origin secret is refused while it is exchanged',
      find: 'return previous === undefined ? [current] : [current, previous]',
      replace: 'return [current]',
      tests: ['unit/runtime/origin-guard'],
    },
  ]),
  ...mutantsOf('shared/runtime/http-envelope.ts', [
    {
      name: 'a balance may be kept by a cache on the way',
      find: "    'cache-control': 'no-store',\n",
      replace: '',
      tests: ['functions/api/api-envelope'],
    },
  ]),
  ...mutantsOf('shared/payment/news/receive-callback.ts', [
    {
      name: 'a callback is not asked for its token',
      find: 'if (!(await isCallbackToken(deps, input.token))) {',
      replace: 'if (input.rawBody.length < 0) {',
      tests: [DUE],
    },
    {
      name: 'a callback whose payment could not be asked about does not make it due',
      find: 'paymentId !== undefined && isBehind(outcome, callback)',
      replace: 'paymentId !== undefined && !paymentId',
      tests: [DUE],
    },
    {
      name: 'a callback that names money nobody confirms yet leaves its payment to its next regular check',
      find: 'providerPaymentId !== undefined && !outcome.held && isOpen(outcome.payment)',
      replace: 'false',
      tests: [AHEAD],
    },
    {
      name: 'a payment being created forgets the money that is not shown yet',
      find: "if (stored?.status === 'creating' && outcome.kind === 'not_shown'",
      replace: "if (stored?.status === 'creating' && outcome.kind === 'deferred'",
      tests: [AHEAD],
    },
    {
      name: 'the callback of a payment being created is acknowledged although its request is behind too',
      find: "const isLookedAt = unmarked?.status !== 'creating' || callback.providerPaymentId === undefined",
      replace: 'const isLookedAt = unmarked === undefined || paymentId !== undefined',
      tests: [AHEAD],
    },
    {
      name: 'the callback of money that is held already is asked for again',
      find: '!outcome.held && isOpen',
      replace: 'isOpen',
      tests: [AHEAD],
    },
    {
      name: 'a status callback about a payment that is terminal is asked about',
      find: 'if (await isNoNews(deps, callback, paymentId)) return',
      replace: 'if (!paymentId?.length) return',
      tests: [AHEAD],
    },
    {
      name: 'a status callback about a payment that is pending is answered without asking',
      find: "stored.status !== 'creating' && stored.status !== 'pending'",
      replace: "stored.status !== 'creating'",
      tests: [AHEAD],
    },
    {
      name: 'the callback of late money is answered without asking',
      find: 'if (providerPaymentId !== undefined || paymentId === undefined) return false',
      replace: 'if (paymentId === undefined) return false',
      tests: [AHEAD, 'integration/payment/held-money'],
    },
    {
      name: 'the provider is not asked to send a callback again',
      find: "return outcome.kind === 'not_found' && isLookedAt ? 'ignored' : 'ask_again'",
      replace: "return 'ignored'",
      tests: [DUE],
    },
  ]),
  ...mutantsOf('shared/provider/xendit/xendit.ts', [
    {
      name: 'an id of any form enters the path of a question',
      find: '  isProviderId(id)\n    ? get(send',
      replace: '  id\n    ? get(send',
      tests: ['unit/provider/xendit-failures'],
    },
    {
      name: 'an id of any form enters the path of a cancel',
      find: "if (!isProviderId(id)) return { kind: 'not_found' }",
      replace: '',
      tests: ['unit/provider/xendit-failures'],
    },
    {
      name: 'a cancel counts as done although the request is open',
      find: "if (!parsed.success || parsed.output.status === 'open') return UNREADABLE",
      replace: 'if (!parsed.success) return UNREADABLE',
      tests: ['unit/provider/xendit-objects'],
    },
  ]),
  ...mutantsOf('shared/provider/provider-failure.ts', [
    {
      name: 'a provider that has answered is the network',
      find: "rate_limited: { code: 'server_error'",
      replace: "rate_limited: { code: 'network'",
      tests: ['unit/provider/provider-failure'],
    },
  ]),
  ...mutantsOf('shared/provider/xendit/rate-limits.ts', [
    {
      name: 'the provider is asked on although it has said that nothing is left',
      find: 'const usedUp = remaining === 0 || outcome.status === 429',
      replace: 'const usedUp = outcome.status === 429',
      tests: ['unit/provider/xendit-rate-limit'],
    },
    {
      name: 'what a header says can silence us for a day',
      find: 'Math.min(Math.max(resetMs, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)',
      replace: 'Math.max(resetMs, SHORTEST_PAUSE_MS)',
      tests: ['unit/provider/xendit-rate-limit'],
    },
  ]),
  ...mutantsOf('shared/provider/xendit/xendit-schema.ts', [
    {
      name: 'a payment without a capture counts as money',
      find: "answer.status === 'SUCCEEDED' && captures.length > 0",
      replace: "answer.status === 'SUCCEEDED'",
      tests: ['unit/provider/xendit-objects'],
    },
    {
      name: 'a fee counts as final although the provider has not settled',
      find: "status === 'success' && settled &&",
      replace: "status === 'success' &&",
      tests: ['unit/provider/xendit-transactions'],
    },
    {
      name: 'a fee that is pending, cancelled or reversed counts as final',
      find: " && !FEE_NOT_FINAL.has(row.fee?.status ?? '')",
      replace: '',
      tests: ['unit/provider/xendit-transactions'],
    },
    {
      name: 'a fee that is cancelled or reversed counts as final',
      find: "new Set(['', 'PENDING', 'CANCELED', 'REVERSED'])",
      replace: "new Set(['', 'PENDING'])",
      tests: ['unit/provider/xendit-transactions'],
    },
    {
      name: 'the fee of a refund counts as the payment’s',
      find: "const isFinal = type === 'payment' && ",
      replace: 'const isFinal = ',
      tests: ['unit/provider/xendit-transactions'],
    },
  ]),
  ...mutantsOf('shared/provider/xendit/xendit-create.ts', [
    {
      name: "a destination of somebody else's request is shown",
      find: 'echo.output.reference_id === asked.reference && echo.output.request_amount === asked.amountMinor',
      replace: 'echo.output.request_amount === asked.amountMinor',
      tests: ['unit/provider/xendit-create'],
    },
    {
      name: 'a destination for another amount is shown',
      find: 'echo.output.reference_id === asked.reference && echo.output.request_amount === asked.amountMinor',
      replace: 'echo.output.reference_id === asked.reference',
      tests: ['unit/provider/xendit-create'],
    },
  ]),
]
