import { TABLE_KINDS, type TableKind } from '../emulators/local-table.ts'
import { UsageError } from './command-line.ts'

/** Of every command that runs on a table of its own. */
export const TABLE_OPTION = { table: { type: 'string' } } as const

/** What `--table` names; undefined without it. Throws `UsageError` when it names no kind of table. */
export const tableFrom = (text: string | undefined): TableKind | undefined => {
  if (text === undefined) return undefined
  const kind = TABLE_KINDS.find((one) => one === text)
  if (kind === undefined) throw new UsageError(`--table takes ${TABLE_KINDS.join(' or ')}`)
  return kind
}
