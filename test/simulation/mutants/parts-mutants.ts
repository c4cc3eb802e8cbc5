import { mutantsOf } from '../mutation/mutant.ts'

/** Every payment of a client is in one part for ever, and everybody who reads asks that part. */
export const PARTS_MUTANTS = [
  ...mutantsOf('mergedPages', ['list-items'], {
    'only the first page of a history is read': {
      edit: 'more = parts.some(_) -> more = false',
      tests: ['settle-client-many-payments'],
    },
  }),
  ...mutantsOf('nextOf', ['list-items'], {
    'a part that must be asked first is passed over': 'drop !part.ended',
    'parts are read one behind the other': 'order(item, best) < 0 -> false',
  }),
  ...mutantsOf('listMergedItems', ['list-items'], {
    'a list over several parts believes its index': 'drop belongs(item)',
  }),
  ...mutantsOf('readLedger', ['client-parts'], {
    'the first part alone is counted': 'parts - 1 -> 0',
  }),
  ...mutantsOf('inForce', ['growing-client'], {
    'a payment is put where a reader that has begun does not look': 'ledgerParts && now < ledgerParts.from -> false',
  }),
  ...mutantsOf('recordChange', ['admin-update-client'], {
    'parts are written with a time of long ago': 'drop options && deps.now() > options.freshUntil',
  }),
  ...mutantsOf('raisedParts', ['admin-update-client'], {
    'a client shrinks': 'number < current -> false',
    'a minute later than asked a client is back at one part for a minute': 'inForce(client, now) -> 1',
  }),
  ...mutantsOf('assertPartsAllowed', ['admin-update-client', 'admin-clients'], {
    'a client grows while the release before may come back': "drop stage.storedRows === 'lean'",
  }),
  ...mutantsOf('changeClient', ['admin-update-client'], {
    'a client grows and those who read are not told': 'drop window: _',
  }),
  ...mutantsOf('newPayment', ['growing-client'], {
    'a commit leaves the part of its claim': 'drop part: creating.part',
  }),
  ...mutantsOf('takeOverPayment', ['growing-client'], {
    'a takeover leaves the part of the claim': '...creating -> ...{ ...creating, part: undefined }',
  }),
  ...mutantsOf('putEvent', ['growing-client'], {
    'an event is listed in another part than its payment': 'ownerOf(..._) -> payment.clientId',
  }),
  ...mutantsOf('shardOf', ['growing-client'], {
    'a payment is credited in another part than its own':
      'shardKey(_, _, part) -> shardKey(clientId, slotOf(paymentId, LEDGER_SHARDS))',
  }),
]
