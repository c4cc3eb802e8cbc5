import { TABLE_KINDS, type TableKind } from '../emulators/local-table.ts'
import { UsageError } from './command-line.ts'

/** The option of every command that opens its own table. */
export const TABLE_OPTION = { table: { type: 'string' } } as const

/** The kind of table that `--table` names; undefined without the option. Throws `UsageError` for an unknown kind. */
export const tableFrom = (text: string | undefined): TableKind | undefined => {
  if (text === undefined) return undefined
  const kind = TABLE_KINDS.find((one) => one === text)
  if (kind === undefined) throw new UsageError(`--table takes ${TABLE_KINDS.join(' or ')}`)
  return kind
}
