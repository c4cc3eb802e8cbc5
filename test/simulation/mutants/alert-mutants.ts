import { mutantsOf } from '../mutation/mutant.ts'

/** Every abandoned delivery in one alert, and those of an endpoint a quarter of an hour apart. */
export const ALERT_MUTANTS = [
  ...mutantsOf('storeAttemptResult', ['abandonments'], {
    'what was abandoned is in no alert': 'drop abandonment: _',
  }),
  ...mutantsOf('alertTimes', ['abandonments'], {
    'every alert goes out alone': '_ || _ -> true',
    'one that comes last closes the door on those that wait': 'addMs(group.nextAt, ALERT_EVERY_MS) -> group.nextAt',
    'an alert goes out alone while another one is open': {
      edit: 'drop group.alertId === undefined',
      equivalent: 'Whoever then tells finds the open one, and takes that over before it names anything else.',
    },
  }),
  ...mutantsOf('closedFrom', ['abandonments'], {
    'alerts of an endpoint follow each other at once': 'addMs(now, ALERT_EVERY_MS) -> now',
  }),
  ...mutantsOf('claimAlert', ['abandonment-store'], {
    'an alert that is on its way is written over': "drop absent('alertId')",
    'an alert follows another that went out since': "drop unchanged('nextAt', group?.nextAt)",
    'a claim of an alert whose answer was lost counts as somebody else’s': "drop item?.['alertId'] === alert.alertId",
  }),
  ...mutantsOf('takeOverAlert', ['abandonment-store'], {
    'two workers take over one alert': "drop equals('claimedUntil', claimedUntil)",
    'an alert is taken over for another one': "drop equals('alertId', alertId)",
  }),
  ...mutantsOf('closeAlert', ['abandonment-store'], {
    'an alert is ended by the worker it was taken from': "drop equals('claimedUntil', claimedUntil)",
    'an alert stays open once a round has begun': 'drop { group, row: undefined, first }',
    'an alert stays open once its first delivery was told of': 'drop { group, row: undefined, first: undefined }',
  }),
  ...mutantsOf('postponeAbandonment', ['abandonment-store'], {
    'what was told of is due again': "equals('dueAt', abandonment.dueAt) -> undefined",
  }),
  ...mutantsOf('freeAlert', ['abandonment-store'], {
    'an alert that stands by itself is told of twice': "drop equals('work', 'alert')",
    'an alert is freed that another worker has moved': "drop equals('dueAt', delivery.dueAt)",
    'an alert of a delivery under way is freed': {
      edit: "drop equals('status', 'abandoned')",
      equivalent: 'Only rows of abandoned deliveries are due for an alert, which is a condition beside it.',
    },
  }),
  ...mutantsOf('tellAbandonments', ['abandonments'], {
    'a worker that was frozen publishes what another one has': 'drop alert.claimedUntil <= deps.now()',
    'an alert leaves the due work before it is out':
      'await deps.alerts.publish(_) -> await takeOff(deps, alert); await deps.alerts.publish(_)',
  }),
  ...mutantsOf('untoldOf', ['abandonments'], {
    'what the release before has told is told again': 'all.filter(isTold) -> all.slice(all.length)',
  }),
  ...mutantsOf('checkAbandonedDelivery', ['abandonments'], {
    'what the release before owes joins no alert': 'freeOwedAlert(..._) -> false',
  }),
]
