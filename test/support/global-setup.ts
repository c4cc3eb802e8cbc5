import type { TestProject } from 'vitest/node'
import { createTable } from '../../infra/local/emulators/create-table.ts'
import { startDynamoDbLocal } from '../../infra/local/emulators/dynamodb-local.ts'

declare module 'vitest' {
  interface ProvidedContext {
    dynamodbEndpoint: string
    tableName: string
  }
}

/** One DynamoDB Local and one table for the whole run: tests keep apart by making their own clients and payments. */
export const setup = async (project: TestProject) => {
  const dynamodb = await startDynamoDbLocal()
  const tableName = 'gateway-test'
  await createTable(dynamodb.endpoint, tableName)
  project.provide('dynamodbEndpoint', dynamodb.endpoint)
  project.provide('tableName', tableName)
  return () => dynamodb.close()
}
