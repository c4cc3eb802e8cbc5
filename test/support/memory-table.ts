import * as v from 'valibot'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { memoryRequests } from '../simulation/sim-table/memory-requests.ts'
import { createSimTable, type SimTable } from '../simulation/sim-table/sim-table.ts'
import type { TableChange } from '../simulation/sim-table/table-change.ts'
import { type Overrides, type TestDeps, testDeps } from './test-deps.ts'

export type MemoryDeps = TestDeps & {
  readonly memory: SimTable
  /** Every change of an item so far: nothing written is nothing added here. */
  readonly changes: TableChange[]
}

/**
 * Test dependencies, with the items given, on a table of their own in memory, whose indexes follow at once: for thousands of runs, for what
 * is done over all clients, and for seeing that nothing was written.
 */
export const memoryDeps = (overrides: Overrides = {}, items: readonly object[] = []): MemoryDeps => {
  const changes: TableChange[] = []
  const memory = createSimTable({
    schema: TABLE_SCHEMA,
    indexes: 'immediate',
    onChange: (change) => void changes.push(change),
  })
  for (const item of items) storeRaw(memory, item)
  changes.length = 0
  return { ...testDeps({ ...overrides, requests: memoryRequests(memory) }), memory, changes }
}

/** An item spelled as the table has it, with its key. */
const storeRaw = ({ requests }: SimTable, item: object) => {
  const { pk, sk } = v.parse(v.object({ pk: v.string(), sk: v.string() }), item)
  requests.write({ kind: 'put', key: { pk, sk }, item: { ...item }, condition: undefined })
}
