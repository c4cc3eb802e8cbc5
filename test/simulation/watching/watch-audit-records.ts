import { isDeepStrictEqual } from 'node:util'
import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { type RawItem, text } from '../../support/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'

type Said = Readonly<Record<string, unknown>>

/** What an operator's record is about, among what its write has changed. */
const isAbout = ({ subject, after }: RawItem, { key, after: row = {} }: TableChange): boolean =>
  key.pk.endsWith(`#${String(subject)}`) || key.sk.endsWith(`#${String(subject)}`)
    ? /^(SETTLEMENT|SUSPENSE|CLIENT|ENDPOINT)$/.test(key.sk.split('#')[0] ?? '')
    : row['key_id'] !== undefined && row['key_id'] === Object(after).key_id

/** Names that mean something else in a row than in a record. */
const OTHERWISE = ['resolution', 'notes', 'ledger_parts']

/** The account as a record names it. */
const inWireNames = (row: RawItem): RawItem => {
  const { bankName, bankAccountNo, bankAccountName } = Object(row['bank'])
  const bank = { bank_name: bankName, bank_account_no: bankAccountNo, bank_account_name: bankAccountName }
  return row['bank'] === undefined ? row : { ...row, bank }
}

/** Whatever record and row both say, they say alike. */
const untruths = (said: Said, row: RawItem): readonly string[] =>
  Object.entries(said)
    .filter(([name, value]) => !OTHERWISE.includes(name) && typeof (row[name] ?? value) === typeof (value ?? row[name]))
    .filter(([name, value]) => (name in row || value === null) && !isDeepStrictEqual(row[name] ?? null, value))
    .map(([name]) => name)

/** Checked at every record of an operator's change: what it says was before, and is now, is what its write has changed. */
export const watchAuditRecords = (world: World, seen: Observations): void => {
  world.onWritten.push((written) => {
    const records = written.flatMap(({ key, before, after }) =>
      key.pk.startsWith('AUDIT#') && key.sk !== 'HEAD' && before === undefined && after ? [after] : [],
    )
    for (const record of records) {
      for (const change of written.filter((one) => isAbout(record, one))) {
        const { before, after } = change
        const wrong = [
          ...(before && record['before'] ? untruths(record['before'] as Said, inWireNames(before)) : []),
          ...(after && record['after'] ? untruths(record['after'] as Said, inWireNames(after)) : []),
        ]
        if (wrong.length > 0)
          seen.problems.push(`the record of ${text(record, 'action')} lies of ${change.key.pk}: ${wrong.join(', ')}`)
      }
    }
  })
}
