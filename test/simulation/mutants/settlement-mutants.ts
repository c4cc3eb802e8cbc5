import { mutantsOf } from '../mutation/mutant.ts'

const SETTLE = 'integration/settlement/settle-client'
const RACES = 'integration/settlement/settle-client-races'
const FLOOR = 'integration/settlement/settle-client-floor'
const HELD_FEES = 'integration/settlement/settle-client-held-fees'
const FINAL_FEES = 'integration/settlement/settle-client-final-fees'
const CLOSING = 'integration/settlement/settlement-closing'
const RECREDIT = 'integration/settlement/settlement-recredit'
const SKEW = 'integration/payment/clock-skew'

/** Each succeeded payment in one settlement that is not failed, none left out, sums that are its payments'. */
export const SETTLEMENT_MUTANTS = [
  ...mutantsOf('shared/client/client.ts', [
    {
      name: "a client's window begins with it, and a clock that is behind puts payments before it",
      find: 'addMs(createdAt, -HOUR_MS)',
      replace: 'addMs(createdAt, 0 * HOUR_MS)',
      tests: [SKEW],
    },
  ]),
  ...mutantsOf('shared/settlement/window-store.ts', [
    {
      name: "an older release's window is not opened for what fell before it",
      find: 'changedAt === undefined && settledUntil === client.createdAt ? windowBornAt(client) : settledUntil',
      replace: 'settledUntil',
      tests: [SKEW],
    },
    {
      name: 'a window that was swept is opened again',
      find: 'changedAt === undefined && settledUntil === client.createdAt',
      replace: 'settledUntil === client.createdAt',
      tests: [SKEW],
    },
    {
      name: 'a window is swept that somebody else has moved',
      find: "    equals('settledUntil', swept.stood),\n",
      replace: '',
      tests: [RACES],
    },
    {
      name: 'a recredit makes a window where there is none',
      find: 'recreditedIds: new Set([id]) },\n      deleteFromSet: { openIds: new Set([id]) },\n    },\n    exists,',
      replace: 'recreditedIds: new Set([id]) },\n      deleteFromSet: { openIds: new Set([id]) },\n    },',
      equivalent: 'A window is born with its client in one transaction and never deleted, so it is always there.',
      tests: [RECREDIT],
    },
    {
      name: 'a recredit is drawn twice',
      find: "all(exists, contains('recreditedIds', drawn.failedId))",
      replace: 'exists',
      tests: ['integration/webhook/lost-claims'],
    },
    {
      name: 'a recredit is drawn from a window that is not there',
      find: "all(exists, contains('recreditedIds', drawn.failedId))",
      replace: "contains('recreditedIds', drawn.failedId)",
      equivalent: 'A set that contains the id is on an item that exists: the second condition says it all.',
      tests: [RECREDIT],
    },
    {
      name: 'a sweep does not count what it has settled',
      find: 'add: { settledMinor: swept.net, ',
      replace: 'add: { ',
      tests: [SETTLE],
    },
  ]),
  ...mutantsOf('shared/settlement/settlement-store.ts', [
    {
      name: 'a settlement is written over another one',
      find: "dueWork('payout', settlement.settlementId, settlement.createdAt),\n    },\n    isNew,",
      replace: "dueWork('payout', settlement.settlementId, settlement.createdAt),\n    },\n    undefined,",
      tests: ['integration/settlement/settlement-store'],
    },
    {
      name: 'a closed settlement is closed again',
      find: "      remove: DUE_WORK_FIELDS,\n    },\n    equals('status', 'recorded'),",
      replace: '      remove: DUE_WORK_FIELDS,\n    },\n    undefined,',
      tests: [CLOSING],
    },
    {
      name: 'a closed settlement stays on the list of payouts',
      find: "      remove: DUE_WORK_FIELDS,\n    },\n    equals('status', 'recorded'),",
      replace: "      remove: [],\n    },\n    equals('status', 'recorded'),",
      tests: ['functions/admin/admin-settlements'],
    },
    {
      name: 'a settlement that has not failed is recredited',
      find: "all(equals('status', 'failed'), absent('recreditedAt'))",
      replace: "absent('recreditedAt')",
      tests: [CLOSING],
    },
    {
      name: 'a failed settlement is recredited twice',
      find: "all(equals('status', 'failed'), absent('recreditedAt'))",
      replace: "equals('status', 'failed')",
      tests: [RECREDIT],
    },
    {
      name: "another client's settlement is shown",
      find: "if (settlement.clientId !== clientId) throw notFound('settlement')\n",
      replace: '',
      tests: ['functions/api/api-tenancy'],
    },
  ]),
  ...mutantsOf('shared/settlement/paid-payments.ts', [
    {
      name: 'the end of a window is included',
      find: 'addMs(input.period.end, -1)',
      replace: 'input.period.end',
      tests: [SETTLE],
    },
    {
      name: 'only the first page of a window is read',
      find: '    cursor = page.cursor\n',
      replace: '',
      tests: ['integration/settlement/settle-client-many-payments'],
    },
  ]),
  ...mutantsOf('shared/settlement/settle-client.ts', [
    {
      name: 'a payment exactly 24 hours old is left out',
      find: 'addMs(deps.now(), 1 - ELIGIBLE_AGE_MS)',
      replace: 'addMs(deps.now(), -ELIGIBLE_AGE_MS)',
      tests: [SETTLE],
    },
    {
      name: 'a payment is settled a millisecond before it is 24 hours old',
      find: 'addMs(deps.now(), 1 - ELIGIBLE_AGE_MS)',
      replace: 'addMs(deps.now(), 2 - ELIGIBLE_AGE_MS)',
      tests: [SETTLE],
    },
    {
      name: 'a net that equals the floor is settled',
      find: 'if (window.sums.netMinor <= client.settlementFloorMinor) {',
      replace: 'if (window.sums.netMinor < client.settlementFloorMinor) {',
      tests: [FLOOR],
    },
    {
      name: 'the floor and the bank details are those of the moment before the summing',
      find: "    const window = await sumWindow(deps, clientId, { start: sweptUntil(known, swept), end })\n    // Read behind the summing, which can take minutes: the floor and the bank details are those of the record's moment.\n    const client = await registered(deps, clientId)\n",
      replace:
        '    const client = await registered(deps, clientId)\n    const window = await sumWindow(deps, clientId, { start: sweptUntil(known, swept), end })\n',
      tests: [SETTLE],
    },
    {
      name: 'whoever loses the race for a window gives up',
      find: 'const MAX_TRIES = 4',
      replace: 'const MAX_TRIES = 1',
      tests: [RACES],
    },
    {
      name: 'sums that do not add up are settled',
      find: '  assertBalanced(window.sums)\n',
      replace: '',
      tests: [SETTLE],
    },
  ]),
  ...mutantsOf('shared/settlement/sum-window.ts', [
    {
      name: 'a payment of the held millisecond is settled',
      find: 'running.at === time ? running.before :',
      replace: "running.at === '' ? running.before :",
      tests: [HELD_FEES],
    },
    {
      name: 'an estimated fee is settled',
      find: "payment.feeStatus === 'estimated' ? await withFinalFee(deps, payment, askUntilMs) : payment",
      replace: "payment.feeStatus === 'estimated' ? payment : payment",
      tests: [HELD_FEES],
    },
    {
      name: 'a payment that is held does not end the window',
      find: 'period: { start: period.start, end: payment.paidAt },',
      replace: 'period,',
      tests: [HELD_FEES],
    },
    {
      name: 'a fee is assumed before seven days are over',
      find: 'feePatienceEnds(payment.paidAt) > deps.now() || ',
      replace: '',
      tests: [HELD_FEES],
    },
    {
      name: 'a run asks for fees as long as it likes',
      find: ' || deps.monotonicMs() >= askUntilMs) return undefined',
      replace: ') return undefined',
      tests: [FINAL_FEES],
    },
    {
      name: 'payments of one millisecond are counted once',
      find: '? { ...running, within: addSums(running.within, sumsOf(payment)) }',
      replace: '? { ...running, within: sumsOf(payment) }',
      tests: [SETTLE],
    },
  ]),
  ...mutantsOf('shared/settlement/rerecord-settlements.ts', [
    {
      name: 'a recredited settlement is recorded again below the floor',
      find: 'if (failed.netMinor <= client.settlementFloorMinor) {',
      replace: 'if (failed.netMinor < client.settlementFloorMinor) {',
      tests: [RECREDIT],
    },
    {
      name: 'one that waits below the floor holds up the others',
      find: '      continue\n',
      replace: '      break\n',
      tests: [RECREDIT],
    },
    {
      name: 'a recorded settlement forgets what it replaces',
      find: '    replaces: failed.settlementId,\n',
      replace: '',
      tests: [RECREDIT],
    },
  ]),
  ...mutantsOf('shared/settlement/close-settlement.ts', [
    {
      name: 'money leaves before it has arrived',
      find: 'if (unfundedMinor > 0) {',
      replace: 'if (unfundedMinor < 0) {',
      tests: [CLOSING],
    },
    {
      name: 'a recredit moves no money back',
      find: '    window: recreditStep(settlement.clientId, settlement.settlementId, settlement.netMinor, now),\n',
      replace: '',
      tests: [RECREDIT],
    },
  ]),
  ...mutantsOf('shared/settlement/settlement-statement.ts', [
    {
      name: 'a statement is given out that does not add up',
      find: 'if (wrong.length === 0) return funding',
      replace: 'if (wrong.length >= 0) return funding',
      tests: ['integration/settlement/settlement-statement'],
    },
    {
      name: "a cursor leads into another settlement's payments",
      find: 'position?.settlement_id === settlement.settlementId &&',
      replace: 'position !== undefined &&',
      tests: ['integration/settlement/settlement-statement'],
    },
  ]),
]
