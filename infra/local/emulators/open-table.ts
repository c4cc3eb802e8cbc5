import type { DataDirectory } from '../process/data-directory.ts'
import { writeProcessRecord } from '../process/process-record.ts'
import { NoDynamoDbLocal, startDynamoDbLocal } from './dynamodb-local.ts'
import type { TableKind } from './local-table.ts'

const TABLE_NAME = 'gateway-local'

type TableOptions = {
  /** Default: DynamoDB Local if this machine can start it, else memory. */
  readonly kind: TableKind | undefined
  readonly data: DataDirectory | undefined
  readonly signal: AbortSignal
  readonly onSpawn: () => void
}

const INSTALL = 'install Java 17 or newer (JAVA_HOME or PATH), or start Docker'

/**
 * DynamoDB Local starts before this process loads the code that uses it. A data directory needs
 * DynamoDB Local, because a table in memory ends with its process.
 */
export async function openTable({ kind, data, signal, onSpawn }: TableOptions) {
  if (kind === 'memory') return openInMemory()
  try {
    const dynamoDb = await startDynamoDbLocal(data?.table, {
      signal,
      onSpawn: (record) => {
        if (data) writeProcessRecord(data.tableProcess, record)
        onSpawn()
      },
    })
    const { openDynamoDbTable } = await import('./create-table.ts')
    return await openDynamoDbTable(TABLE_NAME, { dynamoDb, data })
  } catch (cause) {
    if (!(cause instanceof NoDynamoDbLocal)) throw cause
    if (data)
      throw new Error(`--data cannot keep a table in memory; ${INSTALL}, or leave out --data`, {
        cause,
      })
    if (kind === 'dynamodb')
      throw new Error(`no DynamoDB Local; ${INSTALL}, or leave out --table dynamodb`, { cause })
    return openInMemory(cause.message)
  }
}

async function openInMemory(reason?: string) {
  const { openMemoryTable } = await import('./memory-table/memory-requests.ts')
  return openMemoryTable(reason)
}
