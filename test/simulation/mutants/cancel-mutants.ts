import { mutantsOf } from '../mutation/mutant.ts'

const CANCEL = 'integration/payment/cancel-payment'
const DUE = 'integration/payment/check-due-work'
const EXPIRE = 'integration/payment/expire-payment'
const CRASHES = 'integration/payment/expire-payment-crashes'

/** Who ended a payment that nobody paid: its merchant, or its time. */
export const CANCEL_MUTANTS = [
  ...mutantsOf('shared/payment/news/expire-payment.ts', [
    {
      name: 'a payment expires although the provider says it ended otherwise',
      find: "case 'final':\n      return followProvider(deps, payment, source)",
      replace: "case 'final':\n      break",
      tests: [DUE],
    },
    {
      name: 'a payment expires although the provider cannot be reached',
      find: "case 'unanswered':\n      return answer\n",
      replace: "case 'unanswered':\n      break\n",
      tests: [DUE],
    },
    {
      name: 'a payment that somebody tried to cancel ends as cancelled past its time',
      find: "closePayment(deps, payment, 'expired', source)",
      replace: "closePayment(deps, payment, payment.cancelRequestedAt ? 'cancelled' : 'expired', source)",
      tests: [EXPIRE],
    },
    {
      name: 'nobody asks what became of the cancel of a merchant before our own',
      find: 'if (payment.cancelRequestedAt !== undefined && payment.expiryStartedAt === undefined) {',
      replace: 'if (payment.cancelRequestedAt === payment.expiresAt) {',
      tests: [EXPIRE],
    },
    {
      name: 'our own cancel leaves before its beginning is written down',
      find: 'const started = await noteExpiryStarted(deps, payment.paymentId, deps.now())',
      replace: 'const started = { applied: true, item: undefined }',
      tests: [EXPIRE, CRASHES],
    },
  ]),
  ...mutantsOf('shared/payment/payment.ts', [
    {
      name: 'an expiry that has begun is forgotten by a clock behind',
      find: 'expiryStartedAt !== undefined || (expiresAt',
      replace: '(expiresAt',
      tests: [EXPIRE, 'unit/payment/decide-on-news'],
    },
  ]),
  ...mutantsOf('shared/payment/news/cancel-payment.ts', [
    {
      name: 'a cancel is accepted in any status',
      find: "if (payment.status !== 'pending') throw invalid(`payment cannot be cancelled in status=${payment.status}`)\n",
      replace: '',
      tests: [CANCEL],
    },
    {
      name: 'a cancel goes on although the payment has left pending',
      find: 'if (!noted.applied) return whenOvertaken(deps, payment)\n',
      replace: '',
      tests: ['integration/payment/payment-races'],
    },
    {
      name: 'a request the provider does not know counts as cancelled',
      find: "case 'not_found':\n",
      replace: "case 'not_found':\n      return closeAsCancelled(deps, payment)\n",
      tests: [CANCEL],
    },
    {
      name: 'a request that is final counts as cancelled',
      find: "case 'final': {\n",
      replace: "case 'final': {\n      if (payment) return closeAsCancelled(deps, payment)\n",
      tests: [CANCEL],
    },
    {
      name: 'a cancel is answered by the wish and not by the status that is kept',
      find: "(await closePayment(deps, payment, 'cancelled', 'cancel')) ?? whenOvertaken(deps, payment)",
      replace: "(await closePayment(deps, payment, 'cancelled', 'cancel')) ?? { ...payment, status: 'cancelled' }",
      tests: ['integration/payment/payment-races'],
    },
    {
      name: 'a cancel past its time is a cancel',
      find: 'if (isPastItsTime(payment, now)) return expireInstead(deps, payment)\n',
      replace: '',
      tests: [EXPIRE],
    },
    {
      name: 'a cancel that could not expire its payment leaves it to its next regular check',
      find: '  await markDueNow(deps, kept.paymentId, deps.now())\n',
      replace: '',
      tests: [EXPIRE],
    },
  ]),
]
