import { mutantsOf } from '../mutation/mutant.ts'

const STORE = 'integration/webhook/delivery-store'
const ROUNDS = 'integration/webhook/delivery-store-rounds'
const CRASHES = 'integration/webhook/deliver-webhook-crashes'
const OVERDUE = 'integration/webhook/check-overdue-delivery'

/** Each attempt number claimed once, each result recorded on its claim. */
export const DELIVERY_MUTANTS = [
  ...mutantsOf('shared/webhook/delivery/delivery-store.ts', [
    {
      name: 'fan-out overwrites a delivery that is further along',
      find: '    isNew,\n  )\n\n/** When the next attempt is due',
      replace: '    undefined,\n  )\n\n/** When the next attempt is due',
      tests: [STORE],
    },
    {
      name: 'a finished delivery is attempted',
      find: "all(equals('status', 'scheduled'), equals('attempts', attempts), absent('claimToken'))",
      replace: "all(equals('attempts', attempts), absent('claimToken'))",
      tests: [ROUNDS],
    },
    {
      name: 'an attempt number is claimed again after it was made',
      find: "all(equals('status', 'scheduled'), equals('attempts', attempts), absent('claimToken'))",
      replace: "all(equals('status', 'scheduled'), absent('claimToken'))",
      tests: [STORE],
    },
    {
      name: 'an attempt number is claimed twice',
      find: "all(equals('status', 'scheduled'), equals('attempts', attempts), absent('claimToken'))",
      replace: "all(equals('status', 'scheduled'), equals('attempts', attempts))",
      tests: [STORE],
    },
    {
      name: 'an attempt is claimed before it is due',
      find: "all(unclaimed(delivery), atMost('nextAttemptAt', deps.now()))",
      replace: 'unclaimed(delivery)',
      tests: [STORE],
    },
    {
      name: 'a claim of our own whose answer was lost counts as somebody else’s',
      find: "outcome.applied || outcome.item?.['claimToken'] === claim.token",
      replace: 'outcome.applied',
      tests: [STORE],
    },
    {
      name: 'any claim counts as our own',
      find: "outcome.applied || outcome.item?.['claimToken'] === claim.token",
      replace: "outcome.applied || outcome.item?.['claimToken'] !== undefined",
      tests: [STORE],
    },
    {
      name: 'a result is recorded under a number that is taken',
      find: "all(equals('attempts', attempt.number - 1), equals('claimToken', claimed.claimToken))",
      replace: "equals('claimToken', claimed.claimToken)",
      tests: [STORE],
    },
    {
      name: 'a result is recorded on somebody else’s claim',
      find: "all(equals('attempts', attempt.number - 1), equals('claimToken', claimed.claimToken))",
      replace: "equals('attempts', attempt.number - 1)",
      tests: [STORE],
    },
    {
      name: 'an attempt row is written over',
      find: 'put(attemptKey(claimed.deliveryId, attempt.number), attempt, isNew)',
      replace: 'put(attemptKey(claimed.deliveryId, attempt.number), attempt)',
      equivalent:
        'The row rides in a transaction whose other step moves the number of attempts from n - 1 to n, which happens once.',
      tests: [STORE, CRASHES],
      histories: true,
    },
    {
      name: 'a delivery in flight is skipped',
      find: "{ set: { status: 'skipped' }, remove: SCHEDULE_FIELDS },\n      unclaimed(delivery),",
      replace: "{ set: { status: 'skipped' }, remove: SCHEDULE_FIELDS },",
      tests: [ROUNDS],
    },
    {
      name: 'a round starts while another one runs',
      find: "all(equals('status', delivery.status), equals('attempts', delivery.attempts))",
      replace: "equals('attempts', delivery.attempts)",
      tests: [ROUNDS],
    },
    {
      name: 'a round starts after another one has been and ended',
      find: "all(equals('status', delivery.status), equals('attempts', delivery.attempts))",
      replace: "equals('status', delivery.status)",
      tests: [ROUNDS],
    },
    {
      name: 'a round forgets where it starts',
      find: '{ ...schedule(delivery, now), roundStart: delivery.attempts }',
      replace: 'schedule(delivery, now)',
      tests: [ROUNDS],
    },
    {
      name: 'due work of a delivery is claimed by many',
      find: "all(equals('status', delivery.status), equals('dueAt', delivery.dueAt))",
      replace: "equals('status', delivery.status)",
      tests: [ROUNDS],
    },
    {
      name: 'due work of a delivery is claimed although it has ended',
      find: "all(equals('status', delivery.status), equals('dueAt', delivery.dueAt))",
      replace: "equals('dueAt', delivery.dueAt)",
      equivalent:
        'Every change of status moves due_at or removes it, except to a round begun in the very millisecond the old due time names.',
      tests: [ROUNDS, OVERDUE],
    },
    {
      name: 'an alert that is out takes a new round off the due work',
      find: "all(equals('status', 'abandoned'), equals('attempts', attempts))",
      replace: "equals('attempts', attempts)",
      tests: [ROUNDS],
    },
    {
      name: 'an alert that is out takes the next one off the due work',
      find: "all(equals('status', 'abandoned'), equals('attempts', attempts))",
      replace: "equals('status', 'abandoned')",
      tests: [ROUNDS],
    },
    {
      name: 'a delivery that was abandoned owes no alert',
      find: "set: { status: after.status, ...dueWork('alert', delivery.deliveryId, after.alertDueAt) },",
      replace: 'set: { status: after.status },',
      tests: [STORE],
    },
  ]),
]
