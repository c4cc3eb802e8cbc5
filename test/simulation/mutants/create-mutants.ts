import { mutantsOf } from '../mutation/mutant.ts'

const FIND = 'functions/admin/admin-find-payments'
const CRASHES = 'integration/create/create-payment-crashes'
const FAILURES = 'integration/create/create-payment-failures'
const PUSH = 'integration/create/hold-back-push'
const UNDECIDED_PUSH = 'integration/create/undecided-push'
const THAWED = 'integration/create/thawed-create'
const WHILE_CREATING = 'integration/create/capture-while-creating'

/** The idempotent create: one payment per key, one attempt at a time, at most one destination shown. */
export const CREATE_MUTANTS = [
  ...mutantsOf('shared/payment/payment-store.ts', [
    {
      name: 'a create is claimed although the payment exists',
      find: 'put(paymentKey(creating.paymentId), creating, isNew)',
      replace: 'put(paymentKey(creating.paymentId), creating)',
      tests: ['integration/create/create-payment'],
    },
    {
      name: 'a take-over does not ask whether the payment is still being created',
      find: 'all(isCreating, isAttempt(taken.attempt - 1), leaseIsOver(now))',
      replace: 'all(isAttempt(taken.attempt - 1), leaseIsOver(now))',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a take-over does not ask whether another one came first',
      find: 'all(isCreating, isAttempt(taken.attempt - 1), leaseIsOver(now))',
      replace: 'all(isCreating, leaseIsOver(now))',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a take-over does not ask whether the lease is over',
      find: 'all(isCreating, isAttempt(taken.attempt - 1), leaseIsOver(now))',
      replace: 'all(isCreating, isAttempt(taken.attempt - 1))',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a lease counts as over only where it was released',
      find: "any(absent('leaseUntil'), atMost('leaseUntil', now))",
      replace: "absent('leaseUntil')",
      tests: [CRASHES],
    },
    {
      name: 'a released lease counts as live',
      find: "any(absent('leaseUntil'), atMost('leaseUntil', now))",
      replace: "atMost('leaseUntil', now)",
      tests: [FAILURES],
    },
    {
      name: 'a failure is recorded on a payment that is there already',
      find: 'all(isCreating, isAttempt(creating.attempt))',
      replace: 'isAttempt(creating.attempt)',
      tests: [CRASHES],
    },
    {
      name: 'a failure is recorded on the attempt that took over',
      find: 'all(isCreating, isAttempt(creating.attempt))',
      replace: 'isCreating',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a failure does not release the lease',
      find: "remove: ['leaseUntil'] }",
      replace: 'remove: [] }',
      tests: [FAILURES],
    },
    {
      name: 'a commit does not ask whether the payment is still being created',
      find: 'all(isCreating, isAttempt(payment.attempt), hasRemembered(payment.rememberedProviderPaymentIds))',
      replace: 'all(isAttempt(payment.attempt), hasRemembered(payment.rememberedProviderPaymentIds))',
      tests: [WHILE_CREATING],
    },
    {
      name: 'a commit does not ask whether another attempt took over',
      find: 'all(isCreating, isAttempt(payment.attempt), hasRemembered(payment.rememberedProviderPaymentIds))',
      replace: 'all(isCreating, hasRemembered(payment.rememberedProviderPaymentIds))',
      tests: ['integration/payment/payment-store'],
    },
    {
      name: 'a commit forgets the captures remembered meanwhile',
      find: 'all(isCreating, isAttempt(payment.attempt), hasRemembered(payment.rememberedProviderPaymentIds))',
      replace: 'all(isCreating, isAttempt(payment.attempt))',
      tests: [WHILE_CREATING],
    },
  ]),
  ...mutantsOf('shared/payment/create/create-payment.ts', [
    {
      name: 'a caller does not wait for the attempt that runs',
      find: 'if (stored.leaseUntil !== undefined && stored.leaseUntil > deps.now()) {',
      replace: 'if (stored === undefined) {',
      tests: [CRASHES],
    },
    {
      name: 'a body that cannot be read is refused although its key has a payment',
      find: 'if (!stored) throw parsed.error',
      replace: 'throw parsed.error',
      tests: ['integration/create/create-payment'],
    },
  ]),
  ...mutantsOf('shared/payment/create/wait-for-attempt.ts', [
    {
      name: 'a caller waits on although the attempt has failed',
      find: 'if (stored?.leaseUntil === undefined || stored.leaseUntil <= deps.now()) {',
      replace: 'if (stored === undefined) {',
      tests: [FAILURES],
    },
  ]),
  ...mutantsOf('shared/payment/create/take-over-payment.ts', [
    {
      name: "a take-over uses the new request's words although the first may exist upstream",
      find: 'allRefused && parsed.ok ? parsed.request : creating.request',
      replace: 'parsed.ok ? parsed.request : creating.request',
      tests: [FAILURES],
    },
    {
      name: 'an attempt without a known outcome is forgotten by the next but one',
      find: "creating.mayExistUpstream || last?.outcome !== 'refused'",
      replace: "last?.outcome !== 'refused'",
      tests: ['integration/create/take-over-payment'],
    },
    {
      name: 'an attempt that may exist upstream does not count for those behind it',
      find: "!creating.mayExistUpstream && last?.outcome === 'refused'",
      replace: "last?.outcome === 'refused'",
      tests: ['integration/create/take-over-payment'],
    },
  ]),
  ...mutantsOf('shared/payment/create/hold-back-push.ts', [
    {
      name: 'a second push is sent while the first may still be answered',
      find: 'if (deps.now() < addMs(endOfCall(creating, last), lifetimeMs)) {',
      replace: 'if (deps.now() < last.startedAt) {',
      tests: [UNDECIDED_PUSH],
    },
    {
      name: "a push's lifetime counts from its claim",
      find: 'last.endedAt ?? creating.leaseUntil ?? addMs(last.startedAt, ATTEMPT_LEASE_MS)',
      replace: 'last.startedAt',
      tests: [UNDECIDED_PUSH],
    },
    {
      name: "a dead process's push is taken for one that ended when it was claimed",
      find: 'last.endedAt ?? creating.leaseUntil ?? addMs(last.startedAt, ATTEMPT_LEASE_MS)',
      replace: 'last.endedAt ?? last.startedAt',
      tests: [CRASHES, UNDECIDED_PUSH],
    },
    {
      name: 'a second push is sent although the provider could not say what became of the first',
      find: "if (answer.kind !== 'found' || answer.value.unreadableIds?.length) break",
      replace: "if (answer.kind !== 'found') return []\n    if (answer.value.unreadableIds?.length) break",
      tests: [CRASHES],
    },
    {
      name: 'a second push is sent although rows are missing',
      find: 'if (!hasMore) return own',
      replace: 'if (hasMore !== undefined) return own',
      tests: [PUSH],
    },
    {
      name: "another push's row decides about this one",
      find: 'row.reference === reference &&',
      replace: 'row.reference.startsWith(reference) &&',
      tests: [PUSH],
    },
    {
      name: 'a second push is sent although the provider knows money of the first',
      find: "    case 'success':\n    case 'pending':\n      return askAbout(deps, creating, row)",
      replace: "    case 'success':\n    case 'pending':\n      return 'no_money'",
      tests: [UNDECIDED_PUSH],
    },
    {
      name: 'a push that is known and undecided is taken over',
      find: "return row.status !== 'success' && isClosed ? 'no_money' : 'undecided'",
      replace: "return 'no_money'",
      tests: [UNDECIDED_PUSH],
    },
    {
      name: 'a row of money that cannot be seen yet is taken for none when its request has failed',
      find: "return row.status !== 'success' && isClosed ? 'no_money' : 'undecided'",
      replace: "return isClosed ? 'no_money' : 'undecided'",
      tests: [UNDECIDED_PUSH],
    },
    {
      name: 'a second push is sent although nobody could be asked about the money of the first',
      find: "if (answer.kind !== 'news' || answer.news.reference !== reference) return 'undecided'",
      replace: "if (answer.kind !== 'news' || answer.news.reference !== reference) return 'no_money'",
      tests: [UNDECIDED_PUSH],
    },
    {
      name: "another payment's money decides about this push",
      find: "if (answer.kind !== 'news' || answer.news.reference !== reference) return 'undecided'",
      replace: "if (answer.kind !== 'news') return 'undecided'",
      tests: [UNDECIDED_PUSH],
    },
  ]),
  ...mutantsOf('shared/payment/create/create-attempt.ts', [
    {
      name: 'a provider call is begun that cannot be finished in time',
      find: 'if (budgetMs < LEAST_CREATE_MS ||',
      replace: 'if (budgetMs < 0 ||',
      tests: [CRASHES],
    },
    {
      name: 'the request of an attempt that was overtaken stays payable',
      find: "    case 'overtaken_by':\n      await cancelOrphan(deps, paymentRequestId, creating.paymentId)\n",
      replace: "    case 'overtaken_by':\n",
      tests: [CRASHES],
    },
    {
      name: 'a request without a destination stays payable',
      find: '  await cancelOrphan(deps, orphan.paymentRequestId, creating.paymentId)\n',
      replace: '',
      tests: [FAILURES],
    },
    {
      name: 'a push is sent by an attempt that was frozen until its lease was over',
      find: 'isPushChannel(request) && leaseUntil !== undefined && leaseUntil <= now',
      replace: 'isPushChannel(request) && leaseUntil === undefined && leaseUntil !== now',
      tests: [THAWED],
    },
    {
      name: 'a commit that fails for good keeps its lease',
      find: 'const payment = await release(deps, creating, lost).catch(() => undefined)',
      replace: 'const payment = lost === undefined ? creating : undefined',
      tests: [THAWED],
    },
    {
      name: 'the request of a commit that was applied after all is cancelled',
      find: "return payment.paymentRequestId === paymentRequestId\n      ? { kind: 'committed', payment }\n      : { kind: 'overtaken_by', stored: payment }",
      replace: "return { kind: 'overtaken_by', stored: payment }",
      tests: [THAWED],
    },
    {
      name: 'a failed attempt does not look whether the payment is there all the same',
      find: 'const stored = released.applied ? undefined : await findStoredPayment(deps, creating.paymentId)',
      replace: 'const stored = released.applied ? undefined : undefined',
      tests: ['integration/create/take-over-payment'],
    },
  ]),
  ...mutantsOf('shared/payment/deadline.ts', [
    {
      name: 'the provider is asked behind the deadline',
      find: 'return leftMs > 0 ? ask(Math.min(timeoutMs, leftMs)) : Promise.resolve(NO_TIME_LEFT)',
      replace: 'return ask(Math.min(timeoutMs, leftMs))',
      tests: ['unit/payment/deadline'],
    },
  ]),
  ...mutantsOf('shared/payment/create/commit-attempt.ts', [
    {
      name: 'a payment is committed that expires before it was created',
      find: 'if (upstream.expiresAt <= now) {',
      replace: 'if (upstream.expiresAt === undefined) {',
      tests: [THAWED],
    },
    {
      name: 'a commit of our own from before the expiry is forgotten behind it',
      find: "return found.kind === 'again' ? { kind: 'expired' } : found",
      replace: "return found.kind === 'again' ? { kind: 'expired' } : { kind: 'expired' }",
      tests: [THAWED],
    },
    {
      name: 'a commit of our own whose answer was lost counts as overtaken',
      find: 'return stored.paymentRequestId === upstream.paymentRequestId',
      replace: 'return stored.paymentRequestId === undefined',
      tests: ['integration/create/commit-attempt'],
      histories: true,
    },
    {
      name: "another attempt's destination counts as our own commit",
      find: 'return stored.paymentRequestId === upstream.paymentRequestId',
      replace: 'return stored.paymentRequestId !== undefined',
      tests: [CRASHES],
    },
    {
      name: 'an attempt that was overtaken tries its commit again',
      find: "if (stored.attempt !== creating.attempt) return { kind: 'overtaken_by', stored }",
      replace: "if (stored.attempt === 0) return { kind: 'overtaken_by', stored }",
      tests: ['integration/create/commit-attempt'],
    },
    {
      name: 'a commit that failed is not tried again',
      find: 'if (tried >= MAX_TRIES || deadline.remainingMs() < RETRY_MS) throw error',
      replace: 'if (tried >= 1) throw error',
      tests: ['integration/create/commit-attempt'],
    },
    {
      name: 'a capture remembered meanwhile waits for the first regular check',
      find: 'dueAt: creating.rememberedProviderPaymentIds ? now : nextCheckAt(payment, now)',
      replace: 'dueAt: nextCheckAt(payment, now)',
      tests: [WHILE_CREATING],
    },
  ]),
  ...mutantsOf('shared/payment/create/payment-rules.ts', [
    {
      name: 'an e-wallet code that is a card form or a virtual account is taken',
      find: ' && !isOtherChannel(code)',
      replace: '',
      tests: ['functions/api/api-create-payment-refusals'],
    },
    {
      name: 'an e-wallet code that is a bank is taken',
      find: '!isSupportedBank(code, now) && ',
      replace: '',
      tests: ['functions/api/api-create-payment-refusals'],
    },
  ]),
  ...mutantsOf('shared/payment/payment-dto.ts', [
    {
      name: 'a net that is final is shown as one that will still move',
      find: 'fee_status: payment.feeStatus',
      replace: "fee_status: 'estimated'",
      tests: ['functions/api/api-fee-status'],
    },
  ]),
  ...mutantsOf('shared/ids.ts', [
    {
      name: 'an idempotency key is not unique per client but over all of them',
      find: "derivedUuid('payment', clientId, idempotencyKey)",
      replace: "derivedUuid('payment', idempotencyKey)",
      tests: ['integration/create/create-payment'],
    },
    {
      name: 'an id does not hash the lengths of its parts',
      find: 'hash.update(`${Buffer.byteLength(part)}:`).update(part)',
      replace: 'hash.update(part)',
      tests: ['unit/ids'],
    },
  ]),
  ...mutantsOf('shared/payment/create/commit-attempt.ts', [
    {
      name: 'no destination leads to a payment that was created',
      find: '      destination: pointFromDestination(payment),\n',
      replace: '',
      tests: [FIND],
    },
  ]),
  ...mutantsOf('shared/payment/news/succeed-payment.ts', [
    {
      name: 'no destination leads to a payment that was paid while it was created',
      find: '      destination: pointFromDestination(succeeded),\n',
      replace: '',
      tests: [FIND],
    },
  ]),
  ...mutantsOf('shared/payment/destination-store.ts', [
    {
      name: 'a destination shows a payment that did not show it',
      find: 'payments.filter(({ paymentDestination }) => paymentDestination === destination)',
      replace: 'payments',
      tests: [FIND],
    },
  ]),
]
