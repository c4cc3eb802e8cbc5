import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'

/** Where the gateway's table can be on this machine. */
export const TABLE_KINDS = ['memory', 'dynamodb'] as const
export type TableKind = (typeof TABLE_KINDS)[number]

/** The gateway's table on this machine, in this process or in DynamoDB Local. */
export type LocalTable = {
  /** Single requests, without retries. */
  readonly requests: TableRequests
  /** Where the items are, as text for a person. */
  readonly place: string
  /** The address for other programs. A table in memory has none. */
  readonly dynamoDb?: { readonly endpoint: string; readonly name: string; readonly pid: number }
  /** Resolves with the last error output of DynamoDB Local after it has ended; never for a table in memory. */
  readonly exited: Promise<string>
  readonly close: () => Promise<void>
}
