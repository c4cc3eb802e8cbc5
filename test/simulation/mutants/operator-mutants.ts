import { mutantsOf } from '../mutation/mutant.ts'

/** Who did it, who may, and what needs a second look. */
export const OPERATOR_MUTANTS = [
  ...mutantsOf('brokenLink', ['audit-trail'], {
    'an audit record may be missing': {
      edit: 'drop record.number !== at + 1',
      equivalent: 'The record behind it names the digest of those before: a second lock, which says what is gone.',
    },
    'the newest audit record may be rewritten': 'head?.digest === digest -> true',
    'the newest audit record may be missing': {
      edit: 'drop head?.number !== (chain.length || undefined)',
      equivalent: 'The head names the digest of all: a second lock, which says how many are gone.',
    },
    'a record may be rewritten that is not the newest': 'drop record.previous !== digest',
  }),
  ...mutantsOf('authenticate', ['api-authentication'], {
    'a key that may only read changes something': "drop changes && proven.permissions === 'read_only'",
  }),
  ...mutantsOf('refusedAs', ['local-function-host'], {
    'a duty invokes what is another one’s': 'mayInvoke(role, spec) -> true',
  }),
  ...mutantsOf('bankIsNewUntil', ['settlement-closing'], {
    'an account is new for ever': 'addMs(bank.since, NEW_BANK_MS) -> addMs(bank.since, NEW_BANK_MS * 100)',
    'the first account of a client is a new one': 'drop bank?.replaces',
  }),
  ...mutantsOf('enteredBank', ['admin-update-client'], {
    'the same account again is a new one': 'drop before.bank && isSameAccount(before.bank, bank)',
    'an account that was taken out and replaced is no new one': 'drop before.hadBank === true',
  }),
]
