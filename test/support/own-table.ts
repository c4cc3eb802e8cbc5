import { inject } from 'vitest'
import { createTable } from '../../infra/local/emulators/create-table.ts'
import type { Deps } from '../../shared/deps.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { asDocumentClient } from '../simulation/sim-table/as-document-client.ts'
import { createSimTable } from '../simulation/sim-table/sim-table.ts'
import type { TableChange } from '../simulation/sim-table/table-change.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

/** Deps on a new table that no other test uses: for what is listed, done or kept once over all clients. */
export const depsWithOwnTable = async (overrides: Partial<Deps> = {}): Promise<TestDeps> => {
  const deps = testDeps(overrides)
  const name = `gateway-test-${crypto.randomUUID()}`
  await createTable(inject('dynamodbEndpoint'), name)
  return { ...deps, table: { ...deps.table, name } }
}

/**
 * A table in memory whose indexes learn of changes to some items only when told to, as those of DynamoDB do a moment
 * later; of all others at once.
 */
export const depsWithLateIndexes = (latePkPrefix: string) => {
  const name = 'in-memory'
  const late: TableChange[] = []
  const table = createSimTable({
    schema: TABLE_SCHEMA,
    tableName: name,
    onChange: (change) => {
      if (change.key.pk.startsWith(latePkPrefix)) late.push(change)
      else table.applyToIndexes(change)
    },
  })
  const catchUp = () => {
    for (const change of late.splice(0)) table.applyToIndexes(change)
  }
  return {
    deps: testDeps({ table: { client: asDocumentClient(async (command) => table.execute(command)), name } }),
    catchUp,
  }
}

/** The same on the table in memory, whose indexes are never behind: for tests that read a small table hundreds of times. */
export const depsInMemory = (): TestDeps => {
  const name = 'in-memory'
  const table = createSimTable({ schema: TABLE_SCHEMA, tableName: name, indexes: 'immediate' })
  return testDeps({ table: { client: asDocumentClient(async (command) => table.execute(command)), name } })
}
