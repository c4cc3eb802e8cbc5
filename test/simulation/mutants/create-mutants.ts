import { mutantsOf } from '../mutation/mutant.ts'

/** The idempotent create: one payment per key, one attempt at a time, at most one destination shown. */
export const CREATE_MUTANTS = [
  ...mutantsOf('claimPayment', ['api-idempotency'], {
    'a create is claimed although the payment exists': 'drop isNew',
    'a create that was refused long ago is in the way of its key for ever': {
      edit: 'drop isForgotten(deps.now())',
      tests: ['payment-store'],
    },
  }),
  ...mutantsOf('isForgotten', ['payment-store'], {
    'a create is forgotten before its time': "drop atMost('ttl', ttlSeconds(now))",
  }),
  ...mutantsOf('claimTakeover', ['payment-store'], {
    'a take-over does not ask whether the payment is still being created': 'drop isCreating',
    'a take-over does not ask whether another one came first': 'drop isAttempt(_)',
    'a take-over does not ask whether the lease is over': 'drop leaseIsOver(now)',
    'a take-over writes over what the attempt before it has noted': "drop unchanged('leaseUntil', read.leaseUntil)",
    'a take-over puts off a capture that is remembered': 'drop !remembers',
    'a take-over does not ask whether a capture came meanwhile':
      "drop (remembers ? present : absent)('rememberedProviderPaymentIds')",
    'a take-over of a refused create is forgotten with it': { edit: "drop 'ttl'", tests: ['create-payment-failures'] },
  }),
  ...mutantsOf('leaseIsOver', ['create-payment-crashes'], {
    'a lease counts as over only where it was released': "drop atMost('leaseUntil', now)",
    'a released lease counts as live': { edit: "drop absent('leaseUntil')", tests: ['create-payment-failures'] },
  }),
  ...mutantsOf('releaseAttempt', ['payment-store'], {
    'a failure is recorded on a payment that is there already': 'drop isCreating',
    'a failure is recorded on the attempt that took over': 'drop isAttempt(_)',
    'a failure does not release the lease': {
      edit: "['leaseUntil', ...DUE_WORK_FIELDS] -> DUE_WORK_FIELDS",
      tests: ['create-payment-failures'],
    },
    'a failure puts a remembered capture out of due work': {
      edit: "drop absent('rememberedProviderPaymentIds')",
    },
  }),
  ...mutantsOf('commitPending', ['create-payment-crashes'], {
    'a commit does not ask whether the payment is still being created': 'drop isCreating',
    'a commit does not ask whether another attempt took over': {
      edit: 'drop isAttempt(payment.attempt)',
      tests: ['payment-store'],
    },
    'a commit forgets the captures remembered meanwhile': 'drop unchanged(_, _)',
  }),
  ...mutantsOf('resume', ['create-payment-crashes'], {
    'a caller does not wait for the attempt that runs':
      'stored.leaseUntil !== undefined && stored.leaseUntil > deps.now() -> stored === undefined',
  }),
  ...mutantsOf('createPayment', ['api-idempotency'], {
    'a body that cannot be read is refused although its key has a payment':
      'if (!stored) throw parsed.error -> throw parsed.error',
  }),
  ...mutantsOf('waitForAttempt', ['create-payment-failures'], {
    'a caller waits on although the attempt has failed':
      'stored?.leaseUntil === undefined || stored.leaseUntil <= deps.now() -> stored === undefined',
  }),
  ...mutantsOf('takeOverPayment', ['create-payment-failures'], {
    "a take-over uses the new request's words although the first may exist upstream": {
      edit: 'allRefused && parsed.ok -> parsed.ok',
      tests: ['create-payment-failures'],
    },
    'an attempt without a known outcome is forgotten by the next but one': 'creating.mayExistUpstream || _ -> _',
    'an attempt that may exist upstream does not count for those behind it': 'drop !creating.mayExistUpstream',
  }),
  ...mutantsOf('holdBackPush', ['hold-back-push'], {
    'a second push is sent while the first may still be answered': 'addMs(..._) -> last.startedAt',
    'a second push is sent beside a capture that the payment remembers': {
      edit: 'drop creating.rememberedProviderPaymentIds',
      tests: ['create-payment-crashes'],
    },
    'only the newest push is asked about': 'pushes.toReversed() -> pushes.slice(-1)',
  }),
  ...mutantsOf('endOfCall', ['hold-back-push'], {
    "a push's lifetime counts from its claim": 'endedAt ?? addMs(..._) -> startedAt',
    "a dead process's push is taken for one that ended when it was claimed": {
      edit: 'endedAt ?? addMs(..._) -> endedAt ?? startedAt',
      tests: ['create-payment-crashes', 'hold-back-push'],
    },
  }),
  ...mutantsOf('withAttempt', ['provider-attempts'], {
    'a push is forgotten behind ten attempts that were refused': 'unsent === -1 ? KEPT_FIRST : unsent -> KEPT_FIRST',
  }),
  ...mutantsOf('rowsOf', ['hold-back-push'], {
    'a second push is sent although the provider could not say what became of the first': {
      edit: 'if (_ || _) break -> if (_) return []; if (_) break',
      tests: ['create-payment-crashes'],
    },
    'a second push is sent although rows are missing': '!hasMore -> hasMore !== undefined',
    "another push's row decides about this one": 'row.reference === reference -> row.reference.startsWith(reference)',
  }),
  ...mutantsOf('verdictOn', ['hold-back-push'], {
    'a second push is sent although the provider knows money of the first': "askAbout(..._) -> 'no_money'",
  }),
  ...mutantsOf('withoutMoney', ['hold-back-push'], {
    'a push that is known and undecided is taken over':
      "status !== 'success' && isClosed ? 'no_money' : 'undecided' -> 'no_money'",
    'a row of money that cannot be seen yet is taken for none when its request has failed': "drop status !== 'success'",
  }),
  ...mutantsOf('isOf', ['hold-back-push'], {
    "another payment's amount decides about a row that names its own":
      'capture.providerPaymentId === row.providerPaymentId -> capture.capturedMinor !== row.amountMinor',
  }),
  ...mutantsOf('askAbout', ['hold-back-push'], {
    'another payment of its request answers for a row that cannot be seen yet': 'isOf(row, capture) -> true',
    'a second push is sent although nobody could be asked about the money of the first':
      "if (_ || _) return 'undecided' -> if (_ || _) return 'no_money'",
    "another payment's money decides about this push": 'drop answer.news.reference !== reference',
  }),
  ...mutantsOf('runAttempt', ['create-payment-crashes'], {
    'a provider call is begun that cannot be finished in time': 'LEAST_CREATE_MS -> 0',
  }),
  ...mutantsOf('show', ['create-payment-crashes'], {
    'the request of an attempt that was overtaken stays payable': 'drop cancelOrphan(..._)',
  }),
  ...mutantsOf('cancelOrphan', ['create-payment-crashes', 'provider-news'], {
    'orphans are never cancelled': {
      edit: "await deps.provider.cancelRequest(_, _) -> { kind: 'cancelled' as const }",
      diesWithin: 100,
    },
  }),
  ...mutantsOf('failWithOrphan', ['create-payment-failures'], {
    'a request without a destination stays payable': 'drop cancelOrphan(..._)',
  }),
  ...mutantsOf('hasExpiredPushLease', ['thawed-create'], {
    'a push is sent by an attempt that was frozen until its lease was over':
      'isPushChannel(_) && leaseUntil !== undefined && leaseUntil <= now -> false',
  }),
  ...mutantsOf('commitOrRelease', ['thawed-create'], {
    'a commit that fails for good keeps its lease':
      'const stored = _ -> const stored = lost === undefined ? creating : undefined',
    'the request of a commit that was applied after all is cancelled':
      "stored.status !== 'creating' && stored.paymentRequestId === paymentRequestId ? { kind: 'committed', payment: stored } : _ -> _",
    'the request of an attempt that was overtaken while its commits failed stays payable':
      "if (stored === undefined) throw error -> if (stored === undefined || stored.status === 'creating') throw error",
  }),
  ...mutantsOf('release', ['create-payment-failures'], {
    'a failed attempt does not look whether the payment is there all the same': 'parseStored(..._) -> undefined',
  }),
  ...mutantsOf('providerWithin', ['deadline'], {
    'the provider is asked behind the deadline': 'leftMs > 0 ? ask(_) : Promise.resolve(NO_TIME_LEFT) -> ask(_)',
  }),
  ...mutantsOf('tryCommit', ['thawed-create'], {
    'a payment is committed that expires before it was created':
      'upstream.expiresAt <= now -> upstream.expiresAt === undefined',
    'a commit of our own from before the expiry is forgotten behind it': "found.kind === 'again' ? _ : found -> _",
    'no destination leads to a payment that was created': {
      edit: 'drop destination: _',
      tests: ['admin-find-payments'],
    },
    'no reference leads to a payment that was created': {
      edit: 'drop reference: _',
      tests: ['api-payments-of-reference'],
    },
  }),
  ...mutantsOf('afterRefusal', ['thawed-create', 'create-payment-crashes'], {
    'a commit of our own whose answer was lost counts as overtaken': {
      edit: 'upstream.paymentRequestId -> undefined',
      histories: true,
    },
    "another attempt's destination counts as our own commit": '_ === upstream.paymentRequestId -> _ !== undefined',
    'an attempt that was overtaken tries its commit again': '_ !== creating.attempt -> _ === 0',
  }),
  ...mutantsOf('commitAttempt', ['create-payment-crashes'], {
    'a commit that failed is not tried again': 'tried >= MAX_TRIES || deadline.remainingMs() < RETRY_MS -> tried >= 1',
  }),
  ...mutantsOf('pendingPayment', ['create-payment-crashes'], {
    'a capture remembered meanwhile waits for the first regular check':
      'dueAt: creating.rememberedProviderPaymentIds ? now : dueAt -> dueAt',
  }),
  ...mutantsOf('isWallet', ['api-create-payment-refusals'], {
    'an e-wallet code that is a card form or a virtual account is taken': 'drop !isOtherChannel(code)',
    'an e-wallet code that is a bank is taken': 'drop !isSupportedBank(code, now)',
  }),
  ...mutantsOf('sharedFields', ['provider-news'], {
    'a net that is final is shown as one that will still move': "payment.feeStatus -> 'estimated'",
  }),
  ...mutantsOf('paymentIdForKey', ['ids'], {
    'an idempotency key is not unique per client but over all of them': 'drop clientId',
  }),
  ...mutantsOf('derivedUuid', ['ids'], { 'an id does not hash the lengths of its parts': 'hash.update(_) -> hash' }),
  ...mutantsOf('succeedCreatingPayment', ['admin-find-payments'], {
    'no destination leads to a payment that was paid while it was created': 'drop destination: _',
    'no reference leads to a payment that was paid while it was created': {
      edit: 'drop reference: _',
      tests: ['api-payments-of-reference'],
    },
  }),
  ...mutantsOf('pointFromReference', ['client-parts'], {
    'a reference leads to a payment in another part than its own': 'ownerOf(clientId, part) -> ownerOf(clientId)',
  }),
  ...mutantsOf('paymentsOfReference', ['api-payments-of-reference'], {
    'a reference shows what a row leads to by mistake, whoever has it': 'drop payment.clientId === client.clientId',
    'a reference shows a payment that has another one': 'drop payment.externalReference === reference',
    'a reference of any number of payments is looked through': 'ids.length > MOST -> ids.length < 0',
    'what is looked through for a status costs its client nothing': 'more > 0 -> more < 0',
  }),
  ...mutantsOf('idsOfReference', ['client-parts'], {
    'payments with a reference are listed in the order of their parts': 'drop newestFirst',
    'those with a reference are looked for in the first part alone': 'await readParts(deps, clientId) -> 1',
  }),
  ...mutantsOf('referencePk', ['api-payments-of-reference'], {
    "one client's reference leads to another's payments": 'drop owner',
  }),
  ...mutantsOf('paymentsAtDestination', ['admin-find-payments'], {
    'a destination shows a payment that did not show it': 'payments.filter(_) -> payments',
  }),
]
