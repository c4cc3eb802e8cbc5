import { mutantsOf } from '../mutation/mutant.ts'

const SYNC_FEES = 'integration/sync/sync-fees'
const LOST = 'integration/sync/sync-lost-captures'
const UNEXPLAINED = 'integration/sync/sync-unexplained'
const CURSOR = 'integration/sync/sync-cursor'
const NEWS = 'integration/payment/provider-news'
const FINAL_FEE = 'integration/payment/final-fee'
const FINAL_FEES = 'integration/settlement/settle-client-final-fees'

/** A fee leaves `estimated` once, and what the provider knows is held against the books. */
export const FEE_AND_SYNC_MUTANTS = [
  ...mutantsOf('shared/payment/fee/fee-store.ts', [
    {
      name: 'a fee becomes final more than once',
      find: "all(isSucceeded, equals('feeStatus', 'estimated'))",
      replace: 'isSucceeded',
      tests: [SYNC_FEES],
    },
    {
      name: 'the fee of a payment that has not succeeded becomes final',
      find: "all(isSucceeded, equals('feeStatus', 'estimated'))",
      replace: "equals('feeStatus', 'estimated')",
      tests: ['integration/payment/payment-store-visible'],
    },
    {
      name: 'the difference of a final fee does not reach the ledger',
      find: '    ledger: difference === 0 ? undefined : correctCredit(payment, difference, at),\n',
      replace: '',
      tests: [SYNC_FEES],
    },
    {
      name: 'an assumed fee has no finding',
      find: '    suspense: noted && ensureSuspense(noted),\n',
      replace: '',
      tests: [FINAL_FEES],
    },
    {
      name: 'the last time the provider paid us counts, and not the first',
      find: 'update(paymentKey(payment.paymentId), { setIfAbsent: { providerSettledAt: at } }, isSucceeded)',
      replace: 'update(paymentKey(payment.paymentId), { set: { providerSettledAt: at } }, isSucceeded)',
      tests: ['integration/payment/payment-store-visible'],
    },
  ]),
  ...mutantsOf('shared/payment/fee/actual-fee.ts', [
    {
      name: 'a fee is taken from a transaction about another amount',
      find: 'transaction.amountMinor === payment.notionalMinor && transaction.currency === payment.currency',
      replace: 'transaction.currency === payment.currency',
      tests: [FINAL_FEE],
    },
    {
      name: 'a fee is taken from a transaction in another currency',
      find: 'transaction.amountMinor === payment.notionalMinor && transaction.currency === payment.currency',
      replace: 'transaction.amountMinor === payment.notionalMinor',
      tests: ['unit/payment/actual-fee'],
    },
    {
      name: "a fee is taken from another payment's transaction",
      find: 'transaction.providerPaymentId === providerPaymentId,',
      replace: "transaction.providerPaymentId !== '',",
      tests: ['unit/payment/actual-fee'],
    },
    {
      name: 'a fee is taken from a transaction that was reversed',
      find: "transaction.status === 'success' && transaction.keptMinor !== undefined",
      replace: 'transaction.keptMinor !== undefined',
      tests: ['unit/payment/actual-fee'],
    },
    {
      name: 'a fee is taken from a refund of the payment',
      find: "transaction.type === 'payment' && transaction.providerPaymentId",
      replace: 'transaction.providerPaymentId',
      tests: ['unit/payment/actual-fee'],
    },
    {
      name: 'a fee below nothing is believed',
      find: "  if (keptMinor < 0) return { kind: 'below_zero', keptMinor }\n",
      replace: '',
      tests: ['unit/payment/actual-fee', NEWS],
    },
    {
      name: 'a client is billed at the tariff where the provider kept nothing',
      find: "if (keptMinor === 0 && stage.providerFees === 'invoiced') return",
      replace: 'if (keptMinor === 0) return',
      tests: ['unit/payment/actual-fee', SYNC_FEES],
    },
    {
      name: 'what a row shows counts under a contract that bills later',
      find: "if (keptMinor === 0 && stage.providerFees === 'invoiced') return invoicedFee(payment)\n",
      replace: '',
      tests: ['unit/payment/actual-fee', 'integration/payment/invoiced-fees'],
    },
    {
      name: 'the tariff’s fee is actual at success under every contract',
      find: "deps.stage.providerFees === 'invoiced' ? invoicedFee",
      replace: "deps.stage.providerFees !== 'deducted' ? invoicedFee",
      tests: [NEWS],
    },
  ]),
  ...mutantsOf('shared/payment/fee/final-fee.ts', [
    {
      name: 'a fee is assumed although the provider cannot be asked',
      find: "    if (fee.kind === 'unanswered') return undefined\n",
      replace: '',
      tests: [FINAL_FEES],
    },
  ]),
  ...mutantsOf('shared/sync/reconcile-transaction.ts', [
    {
      name: 'a transaction is held against the fee of another capture',
      find: 'stored.creditedProviderPaymentId === transaction.providerPaymentId',
      replace: 'stored.creditedProviderPaymentId !== undefined',
      tests: [LOST, UNEXPLAINED],
    },
    {
      name: 'a fee that is final and differs is not found',
      find: "if (expectedMinor !== keptMinor) await note(deps, current, transaction, 'fee_changed')\n",
      replace: '',
      tests: [SYNC_FEES],
    },
    {
      name: 'money that was reversed upstream is not found',
      find: "if (transaction.status === 'reversed') return note(deps, payment, transaction, 'reversed_upstream')\n",
      replace: '',
      tests: [SYNC_FEES],
    },
    {
      name: 'a transaction about another amount makes the fee final',
      find: "if (!isForAmount(transaction, payment)) return note(deps, payment, transaction, 'amount_differs')\n",
      replace: '',
      tests: [SYNC_FEES],
    },
    {
      name: 'a capture that is deferred is not looked at again',
      find: "if (outcome.kind === 'deferred') return 'open'\n",
      replace: '',
      tests: [LOST, UNEXPLAINED],
    },
    {
      name: 'money nobody can be asked about is forgotten',
      find: "if (addMs(transaction.updatedAt, OPEN_PATIENCE_MS) > deps.now()) return 'open'",
      replace: "if (addMs(transaction.updatedAt, OPEN_PATIENCE_MS) > deps.now()) return 'done'",
      tests: [LOST, UNEXPLAINED],
    },
    {
      name: 'a row that shows no fee is a finding under a contract that bills later',
      find: 'current.finalFee?.invoiced === true ? 0 : current.providerFeeMinor',
      replace: 'current.providerFeeMinor',
      tests: ['integration/payment/invoiced-fees'],
    },
    {
      name: 'pending transactions are looked for as money',
      find: "if (status === 'pending' || status === 'failed') return 'passed_over'\n",
      replace: '',
      tests: [UNEXPLAINED],
    },
    {
      name: 'a row of a type or status nobody knows is dropped',
      find: "if (type === 'unknown' || status === 'unknown') return noteOther(deps, transaction, known)",
      replace: "if (type === 'unknown' || status === 'unknown') return 'passed_over'",
      tests: ['integration/sync/sync-other-rows'],
    },
    {
      name: 'a refund is taken for the payment it refunds',
      find: "  if (type !== 'payment') return noteOther(deps, transaction, known)\n",
      replace: '',
      tests: ['integration/sync/sync-other-rows'],
    },
    {
      name: 'the account’s own affairs are findings',
      find: "  if (type === 'account' && status !== 'unknown' && known === undefined) return 'passed_over'\n",
      replace: '',
      tests: ['integration/sync/sync-other-rows'],
    },
  ]),
  ...mutantsOf('shared/sync/sync-cursor.ts', [
    {
      name: 'the cursor moves whatever its value',
      find: "from === undefined ? absent('position') : equals('position', from.position)",
      replace: 'undefined',
      tests: [CURSOR],
    },
    {
      name: 'a cursor that was never there is overwritten',
      find: "from === undefined ? absent('position') :",
      replace: 'from === undefined ? undefined :',
      tests: [CURSOR],
    },
  ]),
  ...mutantsOf('shared/sync/sync-provider-transactions.ts', [
    {
      name: 'what the provider shows late is not read again',
      find: 'const OVERLAP_MS = DAY_MS',
      replace: 'const OVERLAP_MS = 0',
      tests: [CURSOR],
    },
    {
      name: 'the cursor moves although a span was not read to its end',
      find: "    if (read.end !== 'read') break\n",
      replace: '',
      tests: [CURSOR],
    },
    {
      name: 'a transaction nobody could be asked about is behind the cursor',
      find: 'earlier(addMs(now, -OVERLAP_MS), openSince ?? now)',
      replace: 'addMs(now, -OVERLAP_MS)',
      tests: [LOST, UNEXPLAINED],
    },
    {
      name: 'a run that was overtaken goes on',
      find: "if (!moved.applied) end = 'overtaken'\n",
      replace: '',
      tests: ['integration/webhook/lost-claims'],
    },
  ]),
  ...mutantsOf('shared/sync/read-span.ts', [
    {
      name: 'only the first page of a span is read',
      find: "if (!answer.value.hasMore || afterId === undefined) return { end: 'read', openSince }",
      replace: "if (afterId !== '') return { end: 'read', openSince }",
      tests: [CURSOR],
    },
    {
      name: 'a transaction nobody could be asked about is not remembered',
      find: '    openSince = earlier(openSince ?? transaction.updatedAt, transaction.updatedAt)\n',
      replace: '',
      tests: [LOST, UNEXPLAINED],
    },
  ]),
]
