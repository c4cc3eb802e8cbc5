import { mutantsOf } from '../mutation/mutant.ts'

const RECREDIT = 'integration/settlement/settlement-recredit'
const COUNT = 'integration/settlement/count-payouts'
const BY_RELEASE = 'integration/settlement/payouts-by-release'

/** What is in settlements and what was paid out, whichever release moved it. */
export const PAYOUT_MUTANTS = [
  ...mutantsOf('shared/settlement/window-store.ts', [
    {
      name: 'what is swept is in no settlement',
      find: 'inSettlementMinor: swept.net, ',
      replace: '',
      tests: [BY_RELEASE],
      histories: true,
    },
    {
      name: 'what is paid out stays in settlement',
      find: 'add: { inSettlementMinor: less(ZERO, net), paidOutMinor: net },',
      replace: 'add: { paidOutMinor: net },',
      tests: [BY_RELEASE],
      histories: true,
    },
    {
      name: 'what is recredited stays in settlement',
      find: 'add: { availableMinor: net, inSettlementMinor: less(ZERO, net), ',
      replace: 'add: { availableMinor: net, ',
      tests: [RECREDIT],
      histories: true,
    },
    {
      name: 'what is recorded again is in no settlement',
      find: '        inSettlementMinor: drawn.net,\n',
      replace: '',
      tests: [RECREDIT],
      histories: true,
    },
    {
      name: 'a payout makes a window where there is none',
      find: 'paidOutMinor: net },\n      deleteFromSet: { openIds: new Set([id]) },\n    },\n    exists,',
      replace: 'paidOutMinor: net },\n      deleteFromSet: { openIds: new Set([id]) },\n    },',
      tests: [BY_RELEASE],
    },
    {
      name: 'payouts are put down although a recredit came between',
      find: "      equals('availableMinor', read.availableMinor),\n",
      replace: '',
      tests: [COUNT],
    },
    {
      name: 'payouts are put down although one came between',
      find: "      isStill('paidOutMinor', read.paidOutMinor),\n",
      replace: '',
      tests: [COUNT],
    },
    {
      name: 'payouts are put down although the window moved there and back',
      find: "      isStill('changedAt', read.changedAt),\n",
      replace: '',
      tests: [COUNT],
    },
  ]),
  ...mutantsOf('shared/settlement/count-payouts.ts', [
    {
      name: 'payouts are believed although an older release swept or recredited since',
      find: '  if (!addsUp(window, { inSettlementMinor, paidOutMinor })) return undefined\n',
      replace: '',
      tests: [BY_RELEASE],
    },
    {
      name: 'what an older release recredited is still in settlement',
      find: '  if (!held.every((settlement) => isOpen(settlement) || isPaidOut(settlement))) return undefined\n',
      replace: '',
      tests: [BY_RELEASE],
    },
    {
      name: 'open settlements are believed that do not add up',
      find: '  if (netOf(held) !== inSettlementMinor) return undefined\n',
      replace: '',
      tests: [BY_RELEASE],
    },
    {
      name: 'what an older release paid out is still in settlement',
      find: 'const paidMinor = netOf(paidMeanwhile)',
      replace: 'const paidMinor = netOf([])',
      tests: [BY_RELEASE],
    },
    {
      name: 'payouts are put down although the index does not know them all',
      find: 'const isWhole = addsUp(window, figures)',
      replace: 'const isWhole = true',
      tests: [COUNT],
    },
    {
      name: 'a window that lags is never put right',
      find: '  if (!proven?.isCurrent) await countPayouts(deps, clientId, window)\n',
      replace: '',
      tests: [COUNT, BY_RELEASE],
    },
  ]),
  ...mutantsOf('shared/settlement/close-settlement.ts', [
    {
      name: 'a payout is not counted',
      find: '    window: payOutStep(paid.clientId, paid.settlementId, paid.netMinor),\n',
      replace: '',
      tests: [BY_RELEASE],
      histories: true,
    },
  ]),
]
