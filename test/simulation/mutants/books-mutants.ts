import { mutantsOf } from '../mutation/mutant.ts'

/** Books that agree are called so, those that do not are not, and operators hear of each difference once. */
export const BOOKS_MUTANTS = [
  ...mutantsOf('keepPaidCount', ['compare-books-races'], {
    'a count takes back what another one has counted behind it': "unchanged('version', count.version) -> undefined",
  }),
  ...mutantsOf('keepComparedBooks', ['compare-books-races'], {
    'two comparisons at once are reported both': "unchanged('version', last?.version) -> undefined",
  }),
  ...mutantsOf('amendStep', ['compare-books-races'], {
    'what an operator has resolved gets another amount': "equals('status', 'open') -> undefined",
  }),
  ...mutantsOf('reopenStep', ['compare-books-races'], {
    'what is open already is opened and told again': "equals('status', 'resolved') -> undefined",
  }),
  ...mutantsOf('standingOf', ['compare-books', 'get-books'], {
    'money is overdue before the sync has had its time': 'READ_BY_MS + DIFFERENCE_AGE_MS -> 0',
    'what went back waits for the provider for ever': "return 'returned' -> return 'not_due'",
  }),
  ...mutantsOf('countPaid', ['compare-books'], {
    'a payment that an index shows late is never counted': 'paidAt < late -> true',
  }),
  ...mutantsOf('settlesYet', ['get-books'], {
    'what was refunded is settled by nobody any more': 'SETTLES_YET_MS[kind] ?? 0 -> SETTLES_YET_MS.voided ?? 0',
  }),
  ...mutantsOf('compareNow', ['compare-books'], {
    'what the slower of two has told stays open': {
      edit: 'drop compareAnyway(..._)',
      tests: ['compare-books-races'],
    },
    'a client is left alone of whom a dispute can still be won':
      'books.isFinal ? books.stand : undefined -> books.stand',
  }),
  ...mutantsOf('isAccepted', ['compare-books'], {
    'an operator’s word holds for any amount': 'drop item.amountMinor === amountMinor',
  }),
  ...mutantsOf('differencesOf', ['compare-books'], {
    'traffic that differs at each look is a difference': 'drop one.amountMinor === amountMinor',
  }),
  ...mutantsOf('figuresOf', ['get-books'], {
    'what is credited meanwhile is a difference':
      'Math.min(Math.max(expected, low ?? 0), high ?? 0) -> credited(after)',
    'what came again is a difference': 'netOf(reversals.filter(isReinstated)) -> 0',
  }),
]
