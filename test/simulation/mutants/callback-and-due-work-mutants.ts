import { mutantsOf } from '../mutation/mutant.ts'

const DUE = 'integration/check-due-work'
const CANCEL = 'integration/cancel-payment'
const STORE = 'integration/payment-store'

/** Callbacks, our own checks and expiry, and cancels. */
export const CALLBACK_AND_DUE_WORK_MUTANTS = [
  ...mutantsOf('shared/provider/provider-secret.ts', [
    {
      name: 'any callback token will do',
      find: '.includes(true)',
      replace: '.includes(false)',
      tests: [DUE],
    },
    {
      name: 'the older of two callback tokens is refused',
      find: 'return callbackTokens.map(',
      replace: 'return callbackTokens.slice(0, 1).map(',
      tests: ['unit/provider-secret'],
    },
  ]),
  ...mutantsOf('shared/payment/receive-callback.ts', [
    {
      name: 'a callback is not asked for its token',
      find: 'if (!(await isCallbackToken(deps, input.token))) {',
      replace: 'if (input.rawBody.length < 0) {',
      tests: [DUE],
    },
    {
      name: 'a callback whose payment could not be asked about does not make it due',
      find: "if (paymentId !== undefined && outcome.kind !== 'deferred') await markDueNow(",
      replace: "if (paymentId !== undefined && outcome.kind === 'deferred') await markDueNow(",
      tests: [DUE],
    },
    {
      name: 'the provider is not asked to send a callback again',
      find: "return outcome.kind === 'not_found' ? 'ignored' : 'ask_again'",
      replace: "return 'ignored'",
      tests: [DUE],
    },
  ]),
  ...mutantsOf('shared/provider/xendit.ts', [
    {
      name: 'an id of any form enters the path of a question',
      find: "  isProviderId(id) ? get(send, { method: 'GET', path: `${path}/${id}`, timeoutMs }, schema) : { kind: 'not_found' }",
      replace: "  get(send, { method: 'GET', path: `${path}/${id}`, timeoutMs }, schema)",
      tests: ['unit/xendit-failures'],
    },
    {
      name: 'an id of any form enters the path of a cancel',
      find: "if (!isProviderId(id)) return { kind: 'not_found' }",
      replace: '',
      tests: ['unit/xendit-failures'],
    },
    {
      name: 'a cancel counts as done although the request is open',
      find: "if (!parsed.success || parsed.output.status === 'open') return UNREADABLE",
      replace: 'if (!parsed.success) return UNREADABLE',
      tests: ['unit/xendit-objects'],
    },
  ]),
  ...mutantsOf('shared/provider/xendit-schema.ts', [
    {
      name: 'a payment without a capture counts as money',
      find: "answer.status === 'SUCCEEDED' && captures.length > 0",
      replace: "answer.status === 'SUCCEEDED'",
      tests: ['unit/xendit-objects'],
    },
    {
      name: 'a fee counts as final although the provider has not settled',
      find: 'const net = settled && !FEE_NOT_FINAL',
      replace: 'const net = !FEE_NOT_FINAL',
      tests: ['unit/xendit-transactions'],
    },
    {
      name: 'a fee that is pending counts as final',
      find: "settled && !FEE_NOT_FINAL.has(row.fee?.status ?? '') ?",
      replace: 'settled ?',
      tests: ['unit/xendit-transactions'],
    },
  ]),
  ...mutantsOf('shared/provider/xendit-create.ts', [
    {
      name: "a destination of somebody else's request is shown",
      find: 'echo.output.reference_id === asked.reference && echo.output.request_amount === asked.amountMinor',
      replace: 'echo.output.request_amount === asked.amountMinor',
      tests: ['unit/xendit-create'],
    },
    {
      name: 'a destination for another amount is shown',
      find: 'echo.output.reference_id === asked.reference && echo.output.request_amount === asked.amountMinor',
      replace: 'echo.output.reference_id === asked.reference',
      tests: ['unit/xendit-create'],
    },
  ]),
  ...mutantsOf('shared/payment/payment-store.ts', [
    {
      name: 'a check is claimed whatever its due time',
      find: "all(present('work'), equals('dueAt', dueAt))",
      replace: "present('work')",
      tests: [DUE],
    },
    {
      name: 'a check is claimed of what is no due work',
      find: "all(present('work'), equals('dueAt', dueAt))",
      replace: "equals('dueAt', dueAt)",
      equivalent:
        'No write leaves due_at without work: both are set by dueWork() and removed by DUE_WORK_FIELDS together.',
      tests: [DUE, STORE],
    },
    {
      name: 'a check is scheduled for a payment that is terminal',
      find: "all(isPending, equals('dueAt', claimedDueAt))",
      replace: "equals('dueAt', claimedDueAt)",
      tests: [STORE],
    },
    {
      name: 'a scheduled check overwrites another reason to look',
      find: "all(isPending, equals('dueAt', claimedDueAt))",
      replace: 'isPending',
      tests: [DUE],
    },
    {
      name: 'the check of a payment being created ends although it is there',
      find: "all(isCreating, equals('dueAt', claimedDueAt))",
      replace: "equals('dueAt', claimedDueAt)",
      tests: [STORE],
    },
    {
      name: 'the check of a payment being created ends although it became due again',
      find: "all(isCreating, equals('dueAt', claimedDueAt))",
      replace: 'isCreating',
      tests: [STORE],
    },
    {
      name: 'a terminal payment becomes due',
      find: "update(paymentKey(paymentId), { set: dueWork('payment', paymentId, now) }, isPending)",
      replace: "update(paymentKey(paymentId), { set: dueWork('payment', paymentId, now) })",
      tests: [STORE],
    },
    {
      name: 'a cancel is noted on a terminal payment',
      find: 'update(paymentKey(paymentId), { setIfAbsent: { cancelRequestedAt: now } }, isPending)',
      replace: 'update(paymentKey(paymentId), { setIfAbsent: { cancelRequestedAt: now } })',
      tests: [CANCEL],
    },
    {
      name: 'the last cancel asked for counts, and not the first',
      find: '{ setIfAbsent: { cancelRequestedAt: now } }',
      replace: '{ set: { cancelRequestedAt: now } }',
      tests: [STORE],
    },
  ]),
  ...mutantsOf('shared/payment/check-due-payment.ts', [
    {
      name: 'our own expiry is not enforced',
      find: 'if (payment.expiresAt !== undefined && payment.expiresAt <= deps.now()) return enforceExpiry(deps, payment)',
      replace: '',
      tests: [DUE],
    },
    {
      name: 'a payment expires although the provider says it ended otherwise',
      find: "case 'final':\n      return applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'due_work')",
      replace: "case 'final':\n      return closeNow()",
      tests: [DUE],
    },
    {
      name: 'a payment expires although the provider cannot be reached',
      find: "case 'unanswered':\n      return answer\n    default:",
      replace: "case 'unanswered':\n      return closeNow()\n    default:",
      tests: [DUE],
    },
    {
      name: 'a cancel of ours that was lost ends as expired',
      find: "payment.cancelRequestedAt === undefined ? 'expired' : 'cancelled'",
      replace: "'expired'",
      tests: ['integration/check-due-payment'],
    },
    {
      name: 'a payment nobody could be asked about waits for its next regular check',
      find: "if (result === 'checked') {\n    await scheduleCheck(",
      replace: 'if (result) {\n    await scheduleCheck(',
      tests: ['integration/check-due-payment'],
    },
    {
      name: 'remembered captures are not asked about once the payment is there',
      find: '...(await askAboutRemembered(deps, payment.rememberedPaymentIds)),',
      replace: '',
      tests: ['integration/check-due-payment'],
    },
    {
      name: 'remembered captures are forgotten while nobody could be asked about them',
      find: "if (result === 'checked' && outcomes.every(({ kind }) => kind !== 'deferred')) {",
      replace: 'if (outcomes.length > 0) {',
      tests: ['integration/check-due-payment'],
    },
    {
      name: 'a payment is checked without a claim',
      find: 'claimed.applied ? parseStored(claimed.item) : undefined',
      replace: 'parseStored(claimed.item)',
      tests: ['integration/check-due-payment'],
    },
  ]),
  ...mutantsOf('shared/payment/cancel-payment.ts', [
    {
      name: 'a cancel is accepted in any status',
      find: "if (payment.status !== 'pending') throw invalid(`payment cannot be cancelled in status=${payment.status}`)\n",
      replace: '',
      tests: [CANCEL],
    },
    {
      name: 'a cancel goes on although the payment has left pending',
      find: 'if (!noted.applied) return answerAsKept(await reread(deps, payment))\n',
      replace: '',
      tests: ['integration/payment-races'],
    },
    {
      name: 'a request the provider does not know counts as cancelled',
      find: "case 'not_found':\n",
      replace: "case 'not_found':\n      return closeAsCancelled(deps, payment)\n",
      tests: [CANCEL],
    },
    {
      name: 'a request that is final counts as cancelled',
      find: "case 'final':\n      return followProvider(deps, payment)",
      replace: "case 'final':\n      return closeAsCancelled(deps, payment)",
      tests: [CANCEL],
    },
    {
      name: 'a cancel is answered by the wish and not by the status that is kept',
      find: "answerAsKept((await closePayment(deps, payment, 'cancelled', 'cancel')) ?? (await reread(deps, payment)))",
      replace: "(await closePayment(deps, payment, 'cancelled', 'cancel')) ?? { ...payment, status: 'cancelled' }",
      tests: ['integration/payment-races'],
    },
  ]),
  ...mutantsOf('shared/due-work/due-items.ts', [
    {
      name: 'due work is looked at before its time',
      find: 'range: { atMost: deps.now() },\n',
      replace: '',
      tests: ['integration/due-work-run'],
      histories: true,
    },
  ]),
  ...mutantsOf('shared/due-work/check-due-work.ts', [
    {
      name: "one item's trouble ends the run",
      find: "run.summary.failed++\n    return 'nothing'",
      replace: 'throw cause',
      tests: ['integration/due-work-run'],
    },
    {
      name: "the run goes on asking after the provider's 429",
      find: "if (results.includes('stop')) return false",
      replace: '',
      tests: ['integration/due-work-run'],
    },
    {
      name: 'only the first slot of due work is looked at',
      find: 'offset < slots; offset++',
      replace: 'offset < 1; offset++',
      tests: ['integration/due-work-run'],
      histories: true,
    },
    {
      name: 'only the first page of a slot is looked at',
      find: '    cursor = page.cursor\n',
      replace: '',
      tests: ['integration/due-work-run'],
    },
  ]),
]
