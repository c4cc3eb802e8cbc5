import { inject } from 'vitest'
import { createTable } from '../../infra/local/emulators/create-table.ts'
import { dynamoDbRequests } from '../../shared/runtime/aws/dynamodb-table.ts'
import { TABLE_SCHEMA } from '../../shared/table/schema.ts'
import { memoryRequests } from '../simulation/sim-table/memory-requests.ts'
import { createSimTable } from '../simulation/sim-table/sim-table.ts'
import type { TableChange } from '../simulation/sim-table/table-change.ts'
import { localClient, type Overrides, type TestDeps, testDeps } from './test-deps.ts'

/** Deps on a new table that no other test uses: for what is listed, done or kept once over all clients. */
export const depsWithOwnTable = async (overrides: Overrides = {}): Promise<TestDeps> => {
  const name = `gateway-test-${crypto.randomUUID()}`
  await createTable(inject('dynamodbEndpoint'), name)
  return testDeps({ ...overrides, requests: dynamoDbRequests({ client: localClient(), name }) })
}

/**
 * A table in memory whose indexes learn of changes to some items only when told to, as those of DynamoDB do a moment
 * later; of all others at once.
 */
export const depsWithLateIndexes = (latePkPrefix: string) => {
  const late: TableChange[] = []
  const table = createSimTable({
    schema: TABLE_SCHEMA,
    onChange: (change) => {
      if (change.key.pk.startsWith(latePkPrefix)) late.push(change)
      else table.applyToIndexes(change)
    },
  })
  const catchUp = () => {
    for (const change of late.splice(0)) table.applyToIndexes(change)
  }
  return {
    deps: testDeps({ requests: memoryRequests(table) }),
    catchUp,
  }
}

/** The same on the table in memory, whose indexes are never behind: for tests that read a small table hundreds of times. */
export const depsInMemory = (): TestDeps => {
  return testDeps({ requests: memoryRequests(createSimTable({ schema: TABLE_SCHEMA, indexes: 'immediate' })) })
}
