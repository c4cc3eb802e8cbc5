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
  ...mutantsOf('withoutReversed', ['reverse-payment', 'undo-behind-sweep'], {
    'a settlement pays out what went back':
      'reversals.filter(isDeducted).map(sumsOf).reduce(lessSums, reinstated) -> reinstated',
    'a settlement leaves out what came again':
      'reversals.filter(isReinstated).map(sumsOf).reduce(addSums, window.sums) -> window.sums',
  }),
  ...mutantsOf('standingParts', ['part-reversal'], {
    'a part marks the settlement that leaves its payment out': 'drop !gone.has(reversal.paymentId)',
  }),
  ...mutantsOf('endDeduction', ['undo-reversal'], {
    'a deduction is ended twice': {
      edit: "drop absent('undoneBy')",
      equivalent: 'The payment is conditioned on the transactions that were applied to it, in the same transaction.',
    },
  }),
  ...mutantsOf('isDeducted', ['undo-reversal', 'undo-behind-sweep'], {
    'what came again is deducted all the same': 'drop undoneBy === undefined',
    'what came again is deducted once more by its own number': 'drop undoes === undefined',
    'what was put back is deducted': 'drop reinstated === undefined',
  }),
  ...mutantsOf('noteUndoneOf', ['undo-reversal'], {
    'what a re-credit has left out comes again on the settlement that failed': "drop absent('recreditedAt')",
    'what is not noted on a settlement is undone there': {
      edit: "drop contains('reversedPaymentIds', paymentId)",
      equivalent: 'The payment names the settlement that it is noted on, and is conditioned on what went back of it.',
    },
  }),
  ...mutantsOf('reversedAsRead', ['undo-reversal'], {
    'a re-credit leaves out what came again meanwhile': "drop unchanged('undoneCount', undoneCount)",
  }),
  ...mutantsOf('undoReversal', ['undo-reversal'], {
    'a part that comes again undoes all': 'drop !isAll',
    'what comes again of more than one dispute undoes one': 'drop whole.beyond',
    'a void is undone by a dispute': "drop whole?.kind !== 'chargeback'",
  }),
  ...mutantsOf('reopenLeftOut', ['undo-behind-sweep'], {
    'a part is owed again though something else had left it out': {
      edit: "equals('leftOutBy', leftOutBy) -> exists",
      equivalent: 'Nothing but the transaction that took all of the payment leaves a part out.',
    },
  }),
  ...mutantsOf('fundedAndReversed', ['provider-funding', 'undo-behind-sweep'], {
    'money that went back again counts as arrived': 'fundedOf(deps, gone) -> fundedOf(deps, [])',
    'what came again counts as not arrived': 'fundedOf(deps, added) -> fundedOf(deps, [])',
  }),
]
