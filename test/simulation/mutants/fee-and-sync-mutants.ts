import { mutantsOf } from '../mutation/mutant.ts'

/** A fee leaves `estimated` once, and what the provider knows is held against the books. */
export const FEE_AND_SYNC_MUTANTS = [
  ...mutantsOf('inForce', ['channel-terms'], {
    'a tariff is in force before its day': 'effectiveFrom <= at -> effectiveFrom !== at',
    'the first tariff is in force for ever': 'findLast -> find',
  }),
  ...mutantsOf('wallet', ['channel-terms'], {
    "a wallet's earlier payments are priced by its later tariff": '[...ANY_WALLET.tariffs, ...tariffs] -> tariffs',
  }),
  ...mutantsOf('estimatePricing', ['channel-terms'], {
    'a payment is charged no flat fee': 'plus(..._) -> bpsFloor(notionalMinor, tariff.bps)',
    "the markup is taken from what the provider's fee leaves":
      'bpsFloor(notionalMinor, markup.bps) -> bpsFloor(less(notionalMinor, providerFeeMinor), markup.bps)',
  }),
  ...mutantsOf('feeMadeFinal', ['sync-fees'], {
    'a fee becomes final more than once': 'drop equals(..._)',
    'the fee of a payment that has not succeeded becomes final': {
      edit: 'drop isSucceeded',
      tests: ['payment-store-visible'],
    },
  }),
  ...mutantsOf('makeFeeFinal', ['sync-fees'], {
    'the difference of a final fee does not reach the ledger': 'drop ledger: _',
    'an assumed fee has no finding': { edit: 'drop suspense: _', tests: ['final-fee'] },
  }),
  ...mutantsOf('makeFeesActual', ['final-fee'], {
    'a page that names a payment twice is refused by the table': 'fee.payment.paymentId -> fee',
  }),
  ...mutantsOf('makeGroupActual', ['final-fee'], {
    'the differences of a page do not reach the ledger': 'drop ledger: _',
    'a page is credited the first difference alone':
      'correctCredit(first.payment, sum, at) -> correctCredit(first.payment, first.differenceMinor, at)',
    'a page that refuses one payment is taken for done': 'drop !applied',
  }),
  ...mutantsOf('noteProviderSettled', ['payment-store-visible'], {
    'the last time the provider paid us counts, and not the first': 'setIfAbsent -> set',
  }),
  ...mutantsOf('isForAmount', ['actual-fee'], {
    'a fee is taken from a transaction about another amount': 'drop transaction.amountMinor === payment.notionalMinor',
    'a fee is taken from a transaction in another currency': 'drop transaction.currency === payment.currency',
  }),
  ...mutantsOf('askForFee', ['actual-fee'], {
    "a fee is taken from another payment's transaction":
      "transaction.providerPaymentId === providerPaymentId -> transaction.providerPaymentId !== ''",
    'a fee is taken from a transaction that was reversed': "drop transaction.status === 'success'",
    'a fee is taken from a refund of the payment': "drop transaction.type === 'payment'",
  }),
  ...mutantsOf('feeByKept', ['actual-fee', 'provider-news'], {
    'a fee below nothing is believed': 'drop keptMinor < 0',
    'a client is billed at the tariff where the provider kept nothing': {
      edit: "drop stage.providerFees === 'invoiced'",
      tests: ['actual-fee', 'sync-fees'],
    },
    'what a row shows counts under a contract that bills later': {
      edit: "drop keptMinor === 0 && stage.providerFees === 'invoiced'",
      tests: ['actual-fee', 'final-fee'],
    },
  }),
  ...mutantsOf('feeAtSuccess', ['actual-fee'], {
    'the provider is asked for a fee that it cannot know yet': 'drop settlesAtOnce(payment)',
    'fees at success use up what the sync lists with': "drop !isScarce(deps, 'listTransactions')",
    'the tariff’s fee is actual at success under every contract':
      "deps.stage.providerFees === 'invoiced' -> deps.stage.providerFees !== 'deducted'",
  }),
  ...mutantsOf('finalFee', ['settle-client-fees'], {
    'a fee is assumed although the provider cannot be asked': "drop fee.kind === 'unanswered'",
  }),
  ...mutantsOf('isCreditedWith', ['sync-tail', 'sync-open'], {
    'a transaction is held against the fee of another capture':
      '_ === transaction.providerPaymentId -> _ !== undefined',
  }),
  ...mutantsOf('reconcileFee', ['sync-fees'], {
    'a fee that is final and differs is not found': 'drop expectedMinor !== keptMinor',
    'a row that shows no fee is a finding under a contract that bills later': {
      edit: 'const expectedMinor = _ -> const expectedMinor = current.providerFeeMinor',
      tests: ['final-fee'],
    },
  }),
  ...mutantsOf('isMoneyBack', ['sync-fees', 'sync-tail', 'sync-unexplained'], {
    'money that was reversed upstream is not found': "status === 'reversed' -> false",
  }),
  ...mutantsOf('reconcileCredited', ['sync-fees'], {
    'a transaction about another amount makes the fee final': 'drop !isForAmount(..._)',
  }),
  ...mutantsOf('askAndReconcile', ['sync-tail', 'sync-open'], {
    'a capture that is deferred is not looked at again': "drop outcome.kind === 'deferred'",
    'money nobody can be asked about is forgotten': 'if (isYoung) return OPEN -> if (isYoung) return DONE',
    'what the provider shows late is not asked about again': 'stored !== undefined && isYoung ? OPEN : DONE -> DONE',
  }),
  ...mutantsOf('isAnswerFor', ['sync-tail'], {
    'a row about another amount credits': 'drop isForAmount(..._)',
    'a row about another attempt credits': 'drop transaction.reference === _',
    'a row about another request credits': 'drop _ || transaction.paymentRequestId === payment.paymentRequestId',
    'a row of another product credits': 'drop CAPTURED_PAYMENT.test(_)',
  }),
  ...mutantsOf('creditByRow', ['sync-tail', 'sync-fees'], {
    'the provider is asked for the fee that a row shows':
      "succeedPayment(..._) -> succeedPayment(deps, known, capture, 'sync')",
  }),
  ...mutantsOf('reconcileTransaction', ['sync-unexplained'], {
    'pending transactions are looked for as money': {
      edit: "drop status === 'pending' || status === 'failed'",
      tests: ['sync-unexplained'],
    },
    'a row of a type or status nobody knows is dropped':
      'if (_ || _) return recordOther(..._) -> if (_ || _) return PASSED_OVER',
    'a refund is taken for the payment it refunds': "drop type !== 'payment'",
  }),
  ...mutantsOf('isUndecided', ['sync-unexplained'], {
    'money that went back of a payment being created is passed over': "drop stored.status === 'creating'",
  }),
  ...mutantsOf('recordOther', ['sync-unexplained'], {
    'the account’s own affairs are findings': "drop type === 'account' && status !== 'unknown' && known === undefined",
  }),
  ...mutantsOf('moveHead', ['sync-slices'], {
    'two planners plan the same span': {
      edit: 'unchanged(_, _) -> undefined',
      equivalent: 'their slices have the same ids, and are new only once',
    },
  }),
  ...mutantsOf('firstPosition', ['sync-head'], {
    'what the release before could not look at is skipped': 'earlier(..._) -> cursor.position',
  }),
  ...mutantsOf('planRound', ['sync-head'], {
    'what is booked a moment late is not read': 'addMs(now, -OVERLAP_MS) -> now',
    'the slices of a round are lost': 'drop steps[slice.id] = _',
  }),
  ...mutantsOf('isMine', ['sync-slices'], {
    'a worker behind its lease keeps its position': "drop equals('dueAt', dueAt)",
  }),
  ...mutantsOf('claimJob', ['sync-slices'], {
    'two workers have the same slice': 'set: { dueAt: leased } -> set: { dueAt }',
  }),
  ...mutantsOf('registerReading', ['sync-tail'], {
    'an early settlement cuts the wait for a late one short': "below('settlesBy', settlesBy) -> absent('ttl')",
    'an hour whose readings are over is not read again': "drop absent('work')",
  }),
  ...mutantsOf('noteOpen', ['sync-open'], {
    'what the provider says last of an open transaction is not kept': '!saysMore(_, _) -> true',
    'an open transaction ends by what was said of it before': 'noted.dueAt === dueAt -> false',
  }),
  ...mutantsOf('saysMore', ['sync-open'], {
    'an older saying of an open transaction replaces the last one': 'drop heard.updatedAt >= known.updatedAt',
  }),
  ...mutantsOf('endReading', ['sync-tail'], {
    'a slice is read for ever': 'slice.openUntil === undefined || reads >= MOST_READS -> slice.openUntil === undefined',
  }),
  ...mutantsOf('readSlice', ['sync-slices'], {
    'a refused cursor stays where it is': '!mayBeCursor || restarted -> true',
    'an empty page that says there is more counts as the last one': 'answer.value.hasMore && _ -> false',
  }),
  ...mutantsOf('readPage', ['sync-slices'], {
    'only the first page of a slice is read': 'page.hasMore -> false',
  }),
  ...mutantsOf('reconcilePage', ['sync-tail', 'sync-open'], {
    'a transaction nobody could be asked about is not remembered': 'drop await noteOpen(..._)',
  }),
  ...mutantsOf('recheckOpen', ['sync-open', 'sync-slices'], {
    'one that stays open is done': "drop reconciled.kind === 'open'",
  }),
  ...mutantsOf('countCalls', ['provider-quota'], {
    'the quota is no limit': "any(absent('taken'), atMost(..._)) -> undefined",
  }),
  ...mutantsOf('notePause', ['provider-quota'], {
    'a later pause is cut short': 'any(absent(operation), below(operation, until)) -> undefined',
  }),
]
