import * as v from 'valibot'
import { memoryRequests } from '../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable, type MemoryTable } from '../../infra/local/emulators/memory-table/memory-table.ts'
import type { TableChange } from '../../infra/local/emulators/memory-table/table-view.ts'
import { type Overrides, testDeps } from './test-deps.ts'

/** Test dependencies with a table of their own in memory, which has these items. Its indexes follow at once. */
export const memoryDeps = (overrides: Overrides = {}, items: readonly object[] = []) => {
  const changes: TableChange[] = []
  const stored = createMemoryTable({ indexes: 'immediate', onChange: (change) => void changes.push(change) })
  for (const item of items) storeRaw(stored, item)
  changes.length = 0
  return { ...testDeps({ ...overrides, requests: memoryRequests(stored) }), stored, changes }
}
export type MemoryDeps = ReturnType<typeof memoryDeps>

/** On a table whose indexes get changes of keys with `latePkPrefix` only on `catchUp`, as DynamoDB's are late. */
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

/** Stores an item in the table's own form, with its key. */
export const storeRaw = ({ requests }: Pick<MemoryTable, 'requests'>, item: object): void => {
  const { pk, sk } = v.parse(v.object({ pk: v.string(), sk: v.string() }), item)
  requests.write({ kind: 'put', key: { pk, sk }, item: { ...item }, condition: undefined })
}
