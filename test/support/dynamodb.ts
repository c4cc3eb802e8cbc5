import { randomUUID } from 'node:crypto'
import { describe } from 'vitest'
import { createTable } from '../../infra/local/emulators/create-table.ts'
import { dynamoDbPrograms } from '../../infra/local/emulators/dynamodb-command.ts'
import { NoDynamoDbLocal, startDynamoDbLocal } from '../../infra/local/emulators/dynamodb-local.ts'
import { localAws } from '../../infra/local/emulators/local-aws.ts'
import { dynamoDbClient, dynamoDbRequests } from '../../shared/runtime/aws/dynamodb-table.ts'
import { PATIENCE_MS } from './patience.ts'

type TestDynamoDb = { readonly endpoint: string; readonly tableName: string }

/**
 * The worker runs its files one after the other, so they share one DynamoDB Local. It ends with the
 * worker.
 */
let starting: Promise<TestDynamoDb | NoDynamoDbLocal> | undefined
let started: TestDynamoDb | undefined

/** Works only inside `describeOnDynamoDb`. */
export function dynamoDb() {
  if (!started)
    throw new Error('DynamoDB Local is not started: describe the test with describeOnDynamoDb')
  return started
}

/** For processes that start their own DynamoDB Local: this only asks whether the machine can. */
export async function describeWithDynamoDb() {
  const fit = await Promise.all(dynamoDbPrograms().map((program) => program.isFit()))
  return describe.skipIf(!fit.includes(true))
}

/** The first such file starts DynamoDB Local. Without DynamoDB Local its tests are skipped. */
export async function describeOnDynamoDb() {
  const none = await (starting ??= start())
  if (none instanceof NoDynamoDbLocal) console.log(`skipped: ${none.message}`)
  return describe.skipIf(none instanceof NoDynamoDbLocal)
}

async function start() {
  try {
    const { endpoint } = await startDynamoDbLocal()
    const tableName = `gateway-test-${randomUUID()}`
    await createTable(endpoint, tableName)
    started = { endpoint, tableName }
    return started
  } catch (error) {
    if (error instanceof NoDynamoDbLocal) return error
    throw error
  }
}

/** Rejects without DynamoDB Local. */
export async function dynamoDbTestRequests() {
  const found = await (starting ??= start())
  if (found instanceof NoDynamoDbLocal) throw found
  const requestHandler = { requestTimeout: PATIENCE_MS, throwOnRequestTimeout: true }
  return dynamoDbRequests({
    client: dynamoDbClient({ ...localAws(found.endpoint), requestHandler }),
    name: found.tableName,
  })
}
