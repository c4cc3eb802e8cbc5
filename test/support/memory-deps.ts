import * as v from 'valibot'
import { memoryRequests } from '../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable, type MemoryTable } from '../../infra/local/emulators/memory-table/memory-table.ts'
import type { TableChange } from '../../infra/local/emulators/memory-table/table-view.ts'
import { type Overrides, testDeps } from './test-deps.ts'

/**
 * Test dependencies on a table of their own in memory, with the items given; its indexes follow at once. For thousands of
 * runs, for what is done over all clients, and for seeing that nothing was written.
 */
export const memoryDeps = (overrides: Overrides = {}, items: readonly object[] = []) => {
  /** Every change of an item so far: nothing written is nothing added here. */
  const changes: TableChange[] = []
  const stored = createMemoryTable({ indexes: 'immediate', onChange: (change) => void changes.push(change) })
  for (const item of items) storeRaw(stored, item)
  changes.length = 0
  return { ...testDeps({ ...overrides, requests: memoryRequests(stored) }), stored, changes }
}
export type MemoryDeps = ReturnType<typeof memoryDeps>

/**
 * On a table in memory whose indexes learn of changes to some items only when told to, as those of DynamoDB do a moment
 * later; of all others at once.
 */
export const depsWithLateIndexes = (latePkPrefix: string) => {
  const late: TableChange[] = []
  const table = createMemoryTable({
    onChange: (change) => {
      if (change.key.pk.startsWith(latePkPrefix)) late.push(change)
      else table.applyToIndexes(change)
    },
  })
  const catchUp = () => {
    for (const change of late.splice(0)) table.applyToIndexes(change)
  }
  return { deps: testDeps({ requests: memoryRequests(table) }), catchUp }
}

/** An item spelled as the table has it, with its key. */
const storeRaw = ({ requests }: MemoryTable, item: object) => {
  const { pk, sk } = v.parse(v.object({ pk: v.string(), sk: v.string() }), item)
  requests.write({ kind: 'put', key: { pk, sk }, item: { ...item }, condition: undefined })
}
