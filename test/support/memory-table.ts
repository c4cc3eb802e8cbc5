import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Deps } from '../../shared/deps.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { asDocumentClient } from '../simulation/sim-table/as-document-client.ts'
import { createSimTable, type SimTable } from '../simulation/sim-table/sim-table.ts'
import type { TableChange } from '../simulation/sim-table/table-change.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

export type MemoryDeps = TestDeps & {
  readonly memory: SimTable
  /** Every change of an item so far: nothing written is nothing added here. */
  readonly changes: TableChange[]
}

const NAME = 'memory'

/**
 * Test dependencies, with the items given, on a table of their own in memory, whose indexes follow at once: for thousands of runs, for what
 * is done over all clients, and for seeing that nothing was written.
 */
export const memoryDeps = (overrides: Partial<Deps> = {}, items: readonly object[] = []): MemoryDeps => {
  const changes: TableChange[] = []
  const memory = createSimTable({
    schema: TABLE_SCHEMA,
    tableName: NAME,
    indexes: 'immediate',
    onChange: (change) => void changes.push(change),
  })
  for (const item of items) memory.execute(new PutCommand({ TableName: NAME, Item: { ...item } }))
  changes.length = 0
  const table = { name: NAME, client: asDocumentClient(async (command) => memory.execute(command)) }
  return { ...testDeps({ ...overrides, table }), memory, changes }
}
