import { mutantsOf } from '../mutation/mutant.ts'

/** Who ended a payment that nobody paid: its merchant, or its time. */
export const CANCEL_MUTANTS = [
  ...mutantsOf('cancelAndClose', ['check-due-payment'], {
    'a payment expires and stays payable': {
      edit: "await deps.provider.cancelRequest(_, _) -> { kind: 'cancelled' as const }",
      diesWithin: 100,
    },
    'a payment expires although the provider says it ended otherwise': 'return followProvider(..._) -> break',
    'a payment expires although the provider cannot be reached': 'return answer -> break',
    'a payment that somebody tried to cancel ends as cancelled past its time': {
      edit: "'expired' -> payment.cancelRequestedAt ? 'cancelled' : 'expired'",
      tests: ['expire-payment'],
    },
  }),
  ...mutantsOf('expirePayment', ['expire-payment'], {
    'nobody asks what became of the cancel of a merchant before our own':
      'payment.cancelRequestedAt !== undefined -> payment.cancelRequestedAt === payment.expiresAt',
    'our own cancel leaves before its beginning is written down': {
      edit: 'await noteExpiryStarted(..._) -> { applied: true, item: undefined }',
      tests: ['expire-payment'],
    },
  }),
  ...mutantsOf('noteExpiryStarted', ['payment-store-visible'], {
    'an expiry begins although a cancel was noted since its payment was read':
      "drop any(present('expiryStartedAt'), unchanged('cancelRequestedAt', cancelRequestedAt))",
  }),
  ...mutantsOf('isPastItsTime', ['expire-payment', 'decide-on-news'], {
    'an expiry that has begun is forgotten by a clock behind': 'drop expiryStartedAt !== undefined',
  }),
  ...mutantsOf('cancelPayment', ['api-get-and-cancel-payment'], {
    'a payment is cancelled and stays payable': {
      edit: "await deps.provider.cancelRequest(_, _) -> { kind: 'cancelled' as const }",
      diesWithin: 100,
    },
    'a cancel is accepted in any status': "drop payment.status !== 'pending'",
    'a cancel goes on although the payment has left pending': { edit: 'drop !noted.applied', tests: ['held-money'] },
    'a cancel past its time is a cancel': { edit: 'drop isPastItsTime(payment, now)', tests: ['expire-payment'] },
  }),
  ...mutantsOf('whenAnswered', ['api-get-and-cancel-payment'], {
    'a request the provider does not know counts as cancelled':
      'await noteNotFoundUpstream(..._) -> return closeAsCancelled(deps, payment); await noteNotFoundUpstream(..._)',
    'a request that is final counts as cancelled':
      'const { paymentRequestId } = _ -> return closeAsCancelled(deps, payment); const { paymentRequestId } = _',
  }),
  ...mutantsOf('closeAsCancelled', ['held-money'], {
    'a cancel is answered by the wish and not by the status that is kept':
      "whenOvertaken(deps, payment) -> { ...payment, status: 'cancelled' }",
  }),
  ...mutantsOf('answerBehind', ['expire-payment'], {
    'a cancel that could not expire its payment leaves it to its next regular check': 'drop markDueNow(..._)',
  }),
]
