import { mutantsOf } from '../mutation/mutant.ts'

const FAN_OUT = 'integration/webhook/fan-out-event'
const RECOVERY = 'integration/webhook/fan-out-event-recovery'
const HELD = 'integration/payment/held-money'
const SUSPENSE = 'integration/payment/suspense-store'

/** The outbox, and alerts that no crash may swallow. */
export const EVENT_MUTANTS = [
  ...mutantsOf('shared/payment/outbox.ts', [
    {
      name: 'an event is written over another one of its payment and type',
      find: '    isNew,\n  )\n}',
      replace: '    undefined,\n  )\n}',
      equivalent:
        'The event rides in the transaction in which its payment leaves pending, or creating, which happens once; no two statuses share a type.',
      tests: ['integration/payment/provider-news', FAN_OUT],
      histories: true,
    },
    {
      name: 'an event is not due work',
      find: "      ...dueWork('event', event.eventId, event.dueAt),\n",
      replace: '',
      tests: ['integration/payment/due-work-run'],
      crashes: ['lost event'],
    },
  ]),
  ...mutantsOf('shared/event/event-store.ts', [
    {
      name: 'an overdue event is claimed by many',
      find: "{ set: { dueAt } }, equals('dueAt', event.dueAt)",
      replace: '{ set: { dueAt } }',
      tests: [RECOVERY],
    },
    {
      name: 'completing an event makes one that is not there',
      find: '{ remove: DUE_WORK_FIELDS }, exists',
      replace: '{ remove: DUE_WORK_FIELDS }',
      tests: [RECOVERY],
    },
  ]),
  ...mutantsOf('shared/webhook/delivery/check-overdue-event.ts', [
    {
      name: 'an event is overdue before its time',
      find: 'event?.dueAt === undefined || event.dueAt > deps.now()',
      replace: 'event?.dueAt === undefined',
      tests: [RECOVERY],
    },
    {
      name: 'an overdue event is fanned out without a claim',
      find: 'if (!(await postponeEvent(deps, event, addMs(deps.now(), TRY_AGAIN_MS)))) return false',
      replace: 'await postponeEvent(deps, event, addMs(deps.now(), TRY_AGAIN_MS))',
      tests: [RECOVERY],
    },
  ]),
  ...mutantsOf('shared/webhook/delivery/fan-out-event.ts', [
    {
      name: 'an event leaves the due work before its deliveries exist',
      find: '  // All are tried, so that',
      replace: '  await completeEvent(deps, event)\n  // All are tried, so that',
      tests: [RECOVERY],
      crashes: ['fan-out'],
    },
    {
      name: 'an event stays due work for ever',
      find: '  await completeEvent(deps, event)\n',
      replace: '',
      tests: [RECOVERY],
    },
    {
      name: 'a delivery that is there already gets no message',
      find: "if (delivery.status === 'scheduled' && delivery.attempts === 0) await",
      replace: "if (outcome.applied && delivery.status === 'scheduled') await",
      tests: [RECOVERY],
    },
    {
      name: 'one endpoint’s trouble is forgotten',
      find: 'if (reasons.length > 0) {',
      replace: 'if (reasons.length > matching.length) {',
      tests: [RECOVERY],
    },
  ]),
  ...mutantsOf('shared/webhook/endpoint/endpoint.ts', [
    {
      name: 'a deleted endpoint gets new events',
      find: '  endpoint.deletedAt === undefined &&\n',
      replace: '',
      tests: [FAN_OUT],
    },
    {
      name: 'an endpoint gets events it did not ask for',
      find: 'wanted === ALL_EVENTS || wanted === eventType',
      replace: 'wanted !== eventType || wanted === eventType',
      tests: [FAN_OUT],
    },
  ]),
  ...mutantsOf('shared/suspense/suspense-store.ts', [
    {
      name: 'a suspense alert is published by everybody who finds it due',
      find: "all(equals('work', 'alert'), equals('dueAt', dueAt)),",
      replace: "equals('work', 'alert'),",
      tests: [HELD],
    },
    {
      name: 'held money is written anew by each callback',
      find: 'put(suspenseKey(item.suspenseId), itemOf(item), isNew)',
      replace: 'put(suspenseKey(item.suspenseId), itemOf(item))',
      tests: [HELD],
    },
    {
      name: 'a transition overwrites what suspense knows already',
      find: '{ setIfAbsent: itemOf(item) }',
      replace: '{ set: itemOf(item) }',
      tests: [SUSPENSE],
    },
    {
      name: 'an alert that is out is taken off twice',
      find: "{ remove: DUE_WORK_FIELDS }, equals('work', 'alert')",
      replace: '{ remove: DUE_WORK_FIELDS }',
      tests: [SUSPENSE],
    },
    {
      name: 'a suspense item is resolved twice',
      find: "    equals('status', 'open'),\n",
      replace: '    undefined,\n',
      tests: [SUSPENSE],
    },
    {
      name: 'held money is not due work of kind alert',
      find: "  ...dueWork('alert', item.suspenseId, addMs(item.createdAt, ALERT_GRACE_MS)),\n",
      replace: '',
      tests: [SUSPENSE],
    },
  ]),
  ...mutantsOf('shared/suspense/record-suspense.ts', [
    {
      name: 'a suspense alert leaves the due work before it is out',
      find: '  try {\n    await deps.alerts.publish(alertFor(item))',
      replace:
        '  try {\n    await endSuspenseAlert(deps, item.suspenseId)\n    await deps.alerts.publish(alertFor(item))',
      tests: [SUSPENSE],
    },
    {
      name: 'operators are told of held money once for each callback',
      find: 'if (!written.applied) return\n',
      replace: '',
      tests: [HELD],
    },
  ]),
]
