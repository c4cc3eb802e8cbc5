import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'
import { UsageError } from '../terminal/command-line.ts'

const TABLE_KINDS = ['memory', 'dynamodb'] as const
export type TableKind = (typeof TABLE_KINDS)[number]

export const TABLE_OPTION = { table: { type: 'string' } } as const

/** Undefined without the option. Throws `UsageError` for an unknown kind. */
export function tableFrom(text: string | undefined) {
  if (text === undefined) return undefined
  const kind = TABLE_KINDS.find((candidate) => candidate === text)
  if (kind === undefined) throw new UsageError(`--table takes ${TABLE_KINDS.join(' or ')}`)
  return kind
}

/** The gateway's table on this machine, in this process or in DynamoDB Local. */
export type LocalTable = {
  /** Without retries. */
  readonly requests: TableRequests
  readonly place: string
  /** A table in memory has no address for other programs. */
  readonly dynamoDb?: { readonly endpoint: string; readonly name: string; readonly pid: number }
  /**
   * Resolves with the last error output of an ended DynamoDB Local; never for a table in memory.
   */
  readonly exitOutput: Promise<string>
  readonly close: () => Promise<void>
}
