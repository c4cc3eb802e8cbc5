import type { TableRequests } from '../../../shared/runtime/aws/retrying-table.ts'

/** What may keep the gateway's table on this machine. */
export const TABLE_KINDS = ['memory', 'dynamodb'] as const
export type TableKind = (typeof TABLE_KINDS)[number]

/** The gateway's table on this machine, in this process or in DynamoDB Local. */
export type LocalTable = {
  /** Single requests, below the retries. */
  readonly requests: TableRequests
  /** Where the items are, in words for a person. */
  readonly place: string
  /** How another program reaches it. A table in memory has none. */
  readonly dynamoDb?: { readonly endpoint: string; readonly name: string; readonly pid: number }
  /** Resolves with the last words of DynamoDB Local when it is gone; never for a table in memory. */
  readonly exited: Promise<string>
  readonly close: () => Promise<void>
}
