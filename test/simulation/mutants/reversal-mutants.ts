import { mutantsOf } from '../mutation/mutant.ts'

/** Money that went back is deducted once, and is in no settlement recorded behind it. */
export const REVERSAL_MUTANTS = [
  ...mutantsOf('countReversal', ['reverse-payment'], {
    'what a settlement has swept is deducted all the same': 'drop atMost(..._)',
    'two reversals get one number': "drop unchanged('reversalSeq', reversalSeq)",
  }),
  ...mutantsOf('noteReversal', ['reverse-payment'], {
    'a reversal does not see the fee that became final at the same moment': {
      edit: "drop equals('netMinor', netMinor)",
      equivalent: 'The net changes with the fee status alone, which is a condition beside it.',
    },
    'a payment is reversed twice by one transaction': "drop unchanged('reversalIds', reversalIds)",
    'a reversed payment holds up its window with an estimated fee': '...(assumes && assumed) -> ...{}',
  }),
  ...mutantsOf('putReversal', ['reverse-payment'], {
    'a reversal is written over another one': {
      edit: 'isNew -> undefined',
      equivalent:
        'One for a payment, and the payment is conditioned on what went back of it so far in the same transaction.',
    },
  }),
  ...mutantsOf('isAll', ['reverse-payment'], {
    'a part is deducted as if it were the whole': 'amountMinor >= notionalMinor -> amountMinor > 0',
  }),
  ...mutantsOf('withoutReversed', ['reverse-payment'], {
    'a settlement pays out what went back': 'deducted.map(sumsOf).reduce(lessSums, window.sums) -> window.sums',
  }),
  ...mutantsOf('fundedAndReversed', ['provider-funding'], {
    'money that went back again counts as arrived': 'fundedIn(_) -> less(fundedIn([]), fundedIn([]))',
  }),
]
