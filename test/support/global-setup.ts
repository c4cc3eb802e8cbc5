import type { TestProject } from 'vitest/node'
import { createTable } from '../../infra/local/emulators/create-table.ts'
import { startDynamoDbLocal } from '../../infra/local/emulators/dynamodb-local.ts'

declare module 'vitest' {
  interface ProvidedContext {
    dynamodbEndpoints: readonly string[]
    tableName: string
  }
}

/**
 * A DynamoDB Local with one table for each worker and its whole run: one alone does one request at a time, and both
 * workers wait for it. Tests keep apart by making their own clients and payments.
 */
export const setup = async (project: TestProject) => {
  const workers = project.config.maxWorkers
  const started = await Promise.all(Array.from({ length: workers }, () => startDynamoDbLocal()))
  const tableName = 'gateway-test'
  await Promise.all(started.map(({ endpoint }) => createTable(endpoint, tableName)))
  project.provide(
    'dynamodbEndpoints',
    started.map(({ endpoint }) => endpoint),
  )
  project.provide('tableName', tableName)
  return async () => {
    await Promise.all(started.map((one) => one.close()))
  }
}
