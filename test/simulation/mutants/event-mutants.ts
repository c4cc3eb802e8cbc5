import { mutantsOf } from '../mutation/mutant.ts'

/** The outbox, and alerts that no crash may swallow. */
export const EVENT_MUTANTS = [
  ...mutantsOf('putEvent', ['provider-news', 'fan-out-event'], {
    'an event is written over another one of its payment and type': {
      edit: 'isNew -> undefined',
      histories: true,
      equivalent:
        'The event rides in the transaction in which its payment leaves pending, or creating, which happens once; no two statuses share a type.',
    },
    'an event is not due work': { edit: 'drop ...dueWork(..._)', tests: ['due-work-run'], crashes: ['lost event'] },
  }),
  ...mutantsOf('postponeEvent', ['fan-out-event'], {
    'an overdue event is claimed by many': 'drop equals(..._)',
  }),
  ...mutantsOf('completeEvent', ['fan-out-event'], {
    'completing an event makes one that is not there': 'drop exists',
  }),
  ...mutantsOf('keepEvent', ['retention'], {
    'an event that is gone comes back without its bytes': 'drop exists',
  }),
  ...mutantsOf('checkOverdueEvent', ['check-overdue'], {
    'an event is overdue before its time': 'drop event.dueAt > deps.now()',
    'an overdue event is fanned out without a claim':
      'if (!(await postponeEvent(..._))) return false -> await postponeEvent(..._)',
  }),
  ...mutantsOf('fanOutEvent', ['fan-out-event'], {
    'an event leaves the due work before its deliveries exist': {
      edit: 'const results = _ -> await completeEvent(deps, event); const results = _',
      crashes: ['fan-out'],
    },
    'an event stays due work for ever': 'drop completeEvent(deps, event)',
    'one endpoint’s trouble is forgotten': 'reasons.length > 0 -> reasons.length > matching.length',
  }),
  ...mutantsOf('fan-out-event/announce', ['fan-out-event'], {
    'a delivery that is there already gets no message':
      "delivery.status === 'scheduled' && _.attempts === 0 -> outcome.applied && _.status === 'scheduled'",
  }),
  ...mutantsOf('subscribes', ['fan-out-event'], {
    'a deleted endpoint gets new events': 'drop endpoint.deletedAt === undefined',
    'an endpoint gets events it did not ask for': 'wanted === ALL_EVENTS -> wanted !== eventType',
  }),
  ...mutantsOf('readEventFeed', ['api-list-events'], {
    'a reader passes events before which others may still come': {
      edit: 'addMs(now, -HOLD_BACK_MS) -> now',
      diesWithin: 100,
    },
    'a reader is sent back to where its page began': 'found.slice(0, room).findLast(_) -> undefined',
    'a reader is told of more that it cannot pass': 'drop further.firedAt <= passable',
    'a reader is shown no young events':
      'found.slice(0, limit) -> found.slice(0, limit).filter(({ firedAt }) => firedAt <= passable)',
    'the new parts of a client are not read': 'await readParts(deps, clientId) -> 1',
    'a cursor of long ago leads out of the range that is read': 'drop from.firedAt >= oldest',
    'a page ends where no answer has room for it': 'roomFor(events) -> events.length',
  }),
  ...mutantsOf('HOLD_BACK_MS', ['api-list-events'], {
    'the last commit of a time may be three minutes late': '5 * MINUTE_MS -> 3 * MINUTE_MS',
  }),
  ...mutantsOf('closePayment', ['clock-skew'], {
    'an event is told of with the time of a try long ago': 'transactWhileFresh(deps, _, now) -> deps.table.transact(_)',
    'a payment that ends is tried for ever': 'tried < MAX_TRIES -> true',
  }),
  ...mutantsOf('claimSuspenseAlert', ['held-money'], {
    'a suspense alert is published by everybody who finds it due': "drop equals('dueAt', dueAt)",
  }),
  ...mutantsOf('newSuspense', ['held-money'], { 'held money is written anew by each callback': 'drop isNew' }),
  ...mutantsOf('closePayment', ['held-money'], {
    'money that is held already is told again': 'newSuspense(_) -> { ...newSuspense(_), condition: undefined }',
  }),
  ...mutantsOf('applyOnce', ['reverse-payment'], {
    'what was found and told before is told again': 'isKnown = _ -> isKnown = false',
  }),
  ...mutantsOf('ensureSuspense', ['suspense-store'], {
    'a transition overwrites what suspense knows already': 'setIfAbsent -> set',
  }),
  ...mutantsOf('endSuspenseAlert', ['suspense-store'], {
    'an alert that is out is taken off twice': "drop equals('work', 'alert')",
  }),
  ...mutantsOf('resolveStep', ['suspense-store'], {
    'a suspense item is resolved twice': "equals('status', 'open') -> undefined",
  }),
  ...mutantsOf('itemOf', ['suspense-store'], { 'held money is not due work of kind alert': 'drop ...dueWork(..._)' }),
  ...mutantsOf('publishSuspenseAlert', ['suspense-store'], {
    'a suspense alert leaves the due work before it is out':
      'await deps.alerts.publish(_) -> await endSuspenseAlert(deps, item.suspenseId); await deps.alerts.publish(_)',
  }),
  ...mutantsOf('recordSuspense', ['held-money'], {
    'operators are told of held money once for each callback': 'drop !written.applied',
  }),
]
