import { mutantsOf } from '../mutation/mutant.ts'

/** Each attempt number claimed once, each result recorded on its claim. */
export const DELIVERY_MUTANTS = [
  ...mutantsOf('insertDelivery', ['delivery-store'], {
    'fan-out overwrites a delivery that is further along': 'isNew -> undefined',
  }),
  ...mutantsOf('unclaimed', ['delivery-store'], {
    'a finished delivery is attempted': {
      edit: "drop isStatus('scheduled')",
      tests: ['delivery-store'],
    },
    'an attempt number is claimed again after it was made': "drop equals('attempts', attempts)",
    'an attempt number is claimed twice': "drop absent('claimToken')",
  }),
  ...mutantsOf('claimAttempt', ['delivery-store'], {
    'an attempt is claimed before it is due': 'drop atMost(..._)',
    'a claim of our own whose answer was lost counts as somebody else’s':
      "drop outcome.item?.['claimToken'] === claim.token",
    'any claim counts as our own': '_ === claim.token -> _ !== undefined',
  }),
  ...mutantsOf('onItsClaim', ['delivery-store'], {
    'a result is recorded under a number that is taken': "drop equals('attempts', number - 1)",
    'a result is recorded on somebody else’s claim': "drop equals('claimToken', claimToken)",
  }),
  ...mutantsOf('storeAttemptResult', ['delivery-store'], {
    'an attempt row is written over': {
      edit: 'drop isNew',
      tests: ['delivery-store', 'deliver-webhook'],
      histories: true,
      equivalent:
        'The row rides in a transaction whose other step moves the number of attempts from n - 1 to n, which happens once.',
    },
  }),
  ...mutantsOf('storeFirstSuccess', ['lean-deliveries'], {
    'a first success is recorded on any claim': 'onItsClaim(claimed, attempt) -> undefined',
    'a first success whose answer was lost counts as lost': 'return outcome.applied || _ -> return outcome.applied',
    'a delivery that was listed meanwhile ends in two lists': "drop 'status'",
  }),
  ...mutantsOf('isStatus', ['lean-deliveries'], {
    'a row that is not listed is never claimed': 'drop equals(UNLISTED_FIELD, status)',
  }),
  ...mutantsOf('skipDelivery', ['delivery-store'], {
    'a delivery in flight is skipped': 'drop unclaimed(delivery)',
  }),
  ...mutantsOf('startRound', ['delivery-store'], {
    'a round starts while another one runs': 'drop isStatus(delivery.status)',
    'a round starts after another one has been and ended': "drop equals('attempts', delivery.attempts)",
    'a round forgets where it starts': { edit: 'set: _ -> set: schedule(delivery, now)', tests: ['redeliver'] },
  }),
  ...mutantsOf('postponeDelivery', ['delivery-store'], {
    'due work of a delivery is claimed by many': "drop equals('dueAt', delivery.dueAt)",
    'due work of a delivery is claimed although it has ended': {
      edit: 'drop isStatus(delivery.status)',
      tests: ['delivery-store', 'check-overdue'],
      equivalent:
        'Every change of status moves due_at or removes it, except to a round begun in the very millisecond the old due time names.',
    },
  }),
  ...mutantsOf('endAlert', ['abandonment-store'], {
    'an alert that is out takes a new round off the due work': "drop equals('status', 'abandoned')",
    'an alert that is out takes the next one off the due work': "drop equals('attempts', attempts)",
  }),
  ...mutantsOf('changesAfter', ['delivery-store'], {
    'a delivery that was abandoned owes no alert': 'drop ...dueWork(..._)',
  }),
]
