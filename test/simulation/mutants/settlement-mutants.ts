import { mutantsOf } from '../mutation/mutant.ts'

/** Each succeeded payment in one settlement that is not failed, none left out, sums that are its payments'. */
export const SETTLEMENT_MUTANTS = [
  ...mutantsOf('firstWindowStart', ['clock-skew'], {
    "a client's window begins with it, and a clock that is behind puts payments before it": '-HOUR_MS -> 0 * HOUR_MS',
  }),
  ...mutantsOf('sweptUntil', ['clock-skew'], {
    "an older release's window is not opened for what fell before it":
      'changedAt === undefined && settledUntil === client.createdAt ? firstWindowStart(_) : settledUntil -> settledUntil',
    'a window that was swept is opened again': 'drop changedAt === undefined',
  }),
  ...mutantsOf('sweepStep', ['settle-client-runs'], {
    'a window is swept that somebody else has moved': 'drop equals(..._)',
    'a sweep does not count what it has settled': { edit: 'drop settledMinor: swept.net', tests: ['settle-client'] },
  }),
  ...mutantsOf('recreditStep', ['settlement-recredit'], {
    'a recredit makes a window where there is none': {
      edit: 'drop exists',
      equivalent: 'A window is born with its client in one transaction and never deleted, so it is always there.',
    },
  }),
  ...mutantsOf('redrawStep', ['settlement-recredit'], {
    'a recredit is drawn twice': 'drop contains(..._)',
    'a recredit is drawn from a window that is not there': {
      edit: 'drop exists',
      equivalent: 'A set that contains the id is on an item that exists: the second condition says it all.',
    },
  }),
  ...mutantsOf('recordStep', ['settle-client'], {
    'a settlement is written over another one': 'isNew -> undefined',
  }),
  ...mutantsOf('closeStep', ['settlement-closing'], {
    'a closed settlement is closed again': 'drop equals(..._)',
    'a closed settlement stays on the list of payouts': { edit: 'DUE_WORK_FIELDS -> []', tests: ['admin-settlements'] },
  }),
  ...mutantsOf('markRecredited', ['settlement-closing'], {
    'a settlement that has not failed is recredited': "drop equals('status', 'failed')",
    'a failed settlement is recredited twice': { edit: "drop absent('recreditedAt')", tests: ['settlement-recredit'] },
  }),
  ...mutantsOf('findSettlement', ['api-tenancy'], {
    "another client's settlement is shown": 'drop settlement.clientId !== clientId',
  }),
  ...mutantsOf('paidRowPages', ['settle-client'], {
    'the end of a window is included': 'addMs(..._) -> end',
  }),
  ...mutantsOf('settleClient', ['settle-client'], {
    'a payment exactly 24 hours old is left out': '1 - ELIGIBLE_AGE_MS -> -ELIGIBLE_AGE_MS',
    'a payment is settled a millisecond before it is 24 hours old': '1 - ELIGIBLE_AGE_MS -> 2 - ELIGIBLE_AGE_MS',
    'a net that equals the floor is settled': {
      edit: 'window.sums.netMinor <= client.settlementFloorMinor -> window.sums.netMinor < client.settlementFloorMinor',
      tests: ['settle-client'],
    },
    'a net is settled as long as there is any': {
      edit: 'window.sums.netMinor <= client.settlementFloorMinor -> window.sums.netMinor <= 0',
      diesWithin: 100,
    },
    'the floor and the bank details are those of the moment before the summing':
      'const client = _ -> const client = known',
  }),
  ...mutantsOf('ELIGIBLE_AGE_MS', ['settle-client'], {
    'a payment is settled an hour before it is 24 hours old': {
      edit: 'DAY_MS -> DAY_MS - 3_600_000',
      diesWithin: 100,
    },
  }),
  ...mutantsOf('settle-client/MAX_TRIES', ['settle-client-runs'], {
    'whoever loses the race for a window gives up': '8 -> 1',
  }),
  ...mutantsOf('recordWindow', ['settle-client'], {
    'sums that do not add up are settled': 'drop assertBalanced(window.sums)',
  }),
  ...mutantsOf('before', ['settle-client-fees'], {
    'a payment of the held millisecond is settled': "within[0]?.paidAt === time -> within[0]?.paidAt === ''",
  }),
  ...mutantsOf('sum-window/pass', ['settle-client-fees'], {
    'an estimated fee is settled': 'await withFinalFee(..._) -> payment',
    'a payment that is held does not end the window': 'period: { start, end: payment.paidAt } -> period',
  }),
  ...mutantsOf('mayAsk', ['settle-client-fees'], {
    'a fee is assumed before seven days are over': { edit: 'drop feeDeadline(paidAt) <= deps.now()', diesWithin: 100 },
  }),
  ...mutantsOf('sum-window/isOver', ['settle-client-fees'], {
    'a run asks for fees as long as it likes': 'drop deps.monotonicMs() >= run.endsAtMs',
  }),
  ...mutantsOf('advance', ['settle-client'], {
    'payments of one millisecond are counted once': '[...within, payment] -> [payment]',
  }),
  ...mutantsOf('keepProgress', ['settle-client-runs'], {
    'sums are kept over those of another run': "unchanged('version', version) -> undefined",
  }),
  ...mutantsOf('handOn', ['settle-client-runs'], {
    'the rest of a window is settled in nobody’s name': '{ operator: trigger.operator, ..._ } -> {}',
  }),
  ...mutantsOf('keepSealedBooks', ['sealed-books'], {
    'what an audit sealed is put over what another has': "unchanged('version', books.version) -> undefined",
  }),
  ...mutantsOf('putWindowSeal', ['sealed-books'], {
    'a window is sealed twice': {
      edit: 'isNew -> undefined',
      equivalent: 'What a seal says follows from the window alone: put twice it says the same.',
    },
  }),
  ...mutantsOf('donePayment', ['sealed-books'], {
    'a payment that is wrong is sealed': 'drop differences.length > 0',
    'a payment is sealed that can still change': "drop payment.status === 'pending'",
  }),
  ...mutantsOf('sealWindows', ['sealed-books'], {
    'a window that does not add up is sealed': '!addsUp(settlement, read.sums) -> false',
  }),
  ...mutantsOf('addFunding', ['provider-funding'], {
    'a gap is passed over in what the provider has paid': 'funding.until < added.from -> false',
    'what the provider has paid is counted by two looks': 'added.payments.filter(_) -> added.payments',
    'more wait than are kept': 'waiting.length > MOST_WAITING -> false',
  }),
  ...mutantsOf('providerFunding', ['settle-client-runs'], {
    'payments behind a settlement count as its own': 'found.funding.until > end -> false',
  }),
  ...mutantsOf('rerecordSettlements', ['settlement-recredit'], {
    'a recredited settlement is recorded again below the floor':
      'netMinor <= client.settlementFloorMinor -> netMinor < client.settlementFloorMinor',
    'one that waits below the floor holds up the others': 'continue -> break',
  }),
  ...mutantsOf('rerecord', ['settlement-recredit'], {
    'a recorded settlement forgets what it replaces': 'drop replaces: _',
  }),
  ...mutantsOf('markSettlementPaid', ['settlement-closing'], {
    'money leaves before it has arrived': 'funding.unfundedMinor > 0 -> funding.unfundedMinor < 0',
  }),
  ...mutantsOf('recreditSettlement', ['settlement-recredit', 'part-reversal'], {
    'a recredit moves no money back': 'drop window: _',
    'a recredit closes only what fits one transaction': 'owed.slice(0, -MOST_LEFT_OUT) -> []',
  }),
  ...mutantsOf('assertProven', ['settlement-statement'], {
    'a statement is given out that does not add up': 'wrong.length === 0 -> wrong.length >= 0',
  }),
  ...mutantsOf('positionIn', ['settlement-statement'], {
    "a cursor leads into another settlement's payments":
      'position?.settlement_id === settlement.settlementId -> position !== undefined',
  }),
]
