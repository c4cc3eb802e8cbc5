import { mutantsOf } from '../mutation/mutant.ts'

/** What is in settlements and what was paid out, whichever release moved it. */
export const PAYOUT_MUTANTS = [
  ...mutantsOf('sweepStep', ['payouts-by-release'], {
    'what is swept is in no settlement': { edit: 'drop inSettlementMinor: swept.net', histories: true },
  }),
  ...mutantsOf('payOutStep', ['payouts-by-release'], {
    'what is paid out stays in settlement': { edit: 'drop inSettlementMinor: less(ZERO, net)', histories: true },
    'a payout makes a window where there is none': 'drop exists',
  }),
  ...mutantsOf('recreditStep', ['settlement-recredit'], {
    'what is recredited stays in settlement': { edit: 'drop inSettlementMinor: less(ZERO, netMinor)', histories: true },
  }),
  ...mutantsOf('redrawStep', ['settlement-recredit'], {
    'what is recorded again is in no settlement': { edit: 'drop inSettlementMinor: drawn.net', histories: true },
  }),
  ...mutantsOf('countPayoutsStep', ['count-payouts'], {
    'payouts are put down although a recredit came between': 'drop equals(..._)',
    'payouts are put down although one came between': "drop unchanged('paidOutMinor', read.paidOutMinor)",
    'payouts are put down although the window moved there and back': "drop unchanged('changedAt', read.changedAt)",
  }),
  ...mutantsOf('provenFigures', ['payouts-by-release'], {
    'payouts are believed although an older release swept or recredited since': 'drop !addsUp(..._)',
    'what an older release recredited is still in settlement': 'drop !held.every(_)',
    'open settlements are believed that do not add up': 'drop netOf(held) !== inSettlementMinor',
    'what an older release paid out is still in settlement': 'netOf(paidMeanwhile) -> netOf([])',
  }),
  ...mutantsOf('countPayouts', ['count-payouts'], {
    'payouts are put down although the index does not know them all': 'addsUp(window, figures) -> true',
  }),
  ...mutantsOf('getBalanceWithPayouts', ['payouts-by-release'], {
    'a payout is shown without what was credited before it': 'drop proven.isCurrent || _',
  }),
  ...mutantsOf('ensurePayoutsCounted', ['count-payouts', 'payouts-by-release'], {
    'a window that lags is never put right': 'drop !proven?.isCurrent',
  }),
  ...mutantsOf('markSettlementPaid', ['payouts-by-release'], {
    'a payout is not counted': { edit: 'drop window: _', histories: true },
  }),
]
