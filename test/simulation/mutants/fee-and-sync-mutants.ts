import { mutantsOf } from '../mutation/mutant.ts'

/** A fee leaves `estimated` once, and what the provider knows is held against the books. */
export const FEE_AND_SYNC_MUTANTS = [
  ...mutantsOf('inForce', ['pricing'], {
    'a tariff is in force before its day': 'effectiveFrom <= at -> effectiveFrom !== at',
    'the first tariff is in force for ever': 'findLast -> find',
  }),
  ...mutantsOf('wallet', ['pricing'], {
    "a wallet's earlier payments are priced by its later tariff": '[...ANY_WALLET.tariffs, ...tariffs] -> tariffs',
  }),
  ...mutantsOf('estimatePricing', ['pricing'], {
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
    'an assumed fee has no finding': { edit: 'drop suspense: _', tests: ['settle-client-fees'] },
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
  ...mutantsOf('isForAmount', ['final-fee'], {
    'a fee is taken from a transaction about another amount': 'drop transaction.amountMinor === payment.notionalMinor',
    'a fee is taken from a transaction in another currency': {
      edit: 'drop transaction.currency === payment.currency',
      tests: ['actual-fee'],
    },
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
      tests: ['actual-fee', 'invoiced-fees'],
    },
  }),
  ...mutantsOf('feeAtSuccess', ['actual-fee'], {
    'the provider is asked for a fee that it cannot know yet': 'settlesAtOnce(payment) -> true',
    'the tariff’s fee is actual at success under every contract':
      "deps.stage.providerFees === 'invoiced' -> deps.stage.providerFees !== 'deducted'",
  }),
  ...mutantsOf('finalFee', ['settle-client-fees'], {
    'a fee is assumed although the provider cannot be asked': "drop fee.kind === 'unanswered'",
  }),
  ...mutantsOf('credits', ['sync-lost-captures', 'sync-unexplained'], {
    'a transaction is held against the fee of another capture':
      '_ === transaction.providerPaymentId -> _ !== undefined',
  }),
  ...mutantsOf('reconcileFee', ['sync-fees'], {
    'a fee that is final and differs is not found': 'drop expectedMinor !== keptMinor',
    'a row that shows no fee is a finding under a contract that bills later': {
      edit: 'const expectedMinor = _ -> const expectedMinor = current.providerFeeMinor',
      tests: ['invoiced-fees'],
    },
  }),
  ...mutantsOf('reconcileCredited', ['sync-fees'], {
    'money that was reversed upstream is not found': "drop transaction.status === 'reversed'",
    'a transaction about another amount makes the fee final': 'drop !isForAmount(..._)',
  }),
  ...mutantsOf('reconcileUncredited', ['sync-lost-captures', 'sync-unexplained'], {
    'a capture that is deferred is not looked at again': "drop outcome.kind === 'deferred'",
    'money nobody can be asked about is forgotten':
      "if (_ > deps.now()) return 'open' -> if (_ > deps.now()) return 'done'",
  }),
  ...mutantsOf('reconcileTransaction', ['sync-unexplained'], {
    'pending transactions are looked for as money': {
      edit: "drop status === 'pending' || status === 'failed'",
      tests: ['sync-unexplained'],
    },
    'a row of a type or status nobody knows is dropped':
      "if (_ || _) return recordOther(..._) -> if (_ || _) return 'passed_over'",
    'a refund is taken for the payment it refunds': "drop type !== 'payment'",
  }),
  ...mutantsOf('recordOther', ['sync-unexplained'], {
    'the account’s own affairs are findings': "drop type === 'account' && status !== 'unknown' && known === undefined",
  }),
  ...mutantsOf('moveSyncCursor', ['sync-cursor'], {
    'the cursor moves whatever its value': 'unchanged(_, _) -> undefined',
    'a cursor that was never there is overwritten':
      'unchanged(_, from?.position) -> from && unchanged(_, from.position)',
  }),
  ...mutantsOf('OVERLAP_MS', ['sync-cursor'], { 'what the provider shows late is not read again': 'DAY_MS -> 0' }),
  ...mutantsOf('syncProviderTransactions', ['sync-cursor'], {
    'the cursor moves although a span was not read to its end': "drop read.end !== 'read'",
    'a run that was overtaken goes on': { edit: 'drop !moved.applied', tests: ['lost-claims'] },
  }),
  ...mutantsOf('cursorBehind', ['sync-lost-captures', 'sync-unexplained'], {
    'a transaction nobody could be asked about is behind the cursor': 'earlier(..._) -> addMs(now, -OVERLAP_MS)',
  }),
  ...mutantsOf('readSpan', ['sync-cursor'], {
    'only the first page of a span is read': "!answer.value.hasMore || afterId === undefined -> afterId !== ''",
  }),
  ...mutantsOf('reconcilePage', ['sync-lost-captures', 'sync-unexplained'], {
    'a transaction nobody could be asked about is not remembered': 'drop openSince = _',
  }),
]
