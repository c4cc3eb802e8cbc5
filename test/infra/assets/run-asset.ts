import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { createTable } from '../../../infra/local/emulators/create-table.ts'
import { localAws } from '../../../infra/local/emulators/dynamodb-local.ts'
import { dynamoDbClient } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { dynamoDb } from '../../support/dynamodb.ts'
import type { MemoryDeps } from '../../support/memory-deps.ts'

const RUN = `
  const { handler } = await import(process.argv[1])
  const context = { awsRequestId: 'invocation', functionName: 'asset', getRemainingTimeInMillis: () => 20_000 }
  const answer = await handler(JSON.parse(process.argv[2]), context)
  process.stdout.write('\\n' + JSON.stringify(answer), () => process.exit())`

const DEADLINE_MS = 30_000

/**
 * Loads a bundled handler in a plain Node process that knows no more than its environment, and calls it once. Answers
 * what the handler answers and everything it wrote.
 */
export const runAsset = async (
  file: string,
  event: unknown,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly answer: unknown; readonly output: string }> => {
  const args = ['--input-type=module', '--eval', RUN, pathToFileURL(file).href, JSON.stringify(event)]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    env: { ...env },
    timeout: DEADLINE_MS,
  })
  const answer: unknown = JSON.parse(stdout.split('\n').at(-1) ?? '')
  return { answer, output: stdout + stderr }
}

/** In one batch. */
const MOST_PUTS = 25

/** Makes a table on DynamoDB Local with all rows of the world. */
export const copyTable = async ({ stored }: MemoryDeps, name: string): Promise<string> => {
  await createTable(dynamoDb().endpoint, name)
  const client = dynamoDbClient(localAws(dynamoDb().endpoint))
  const puts = stored.items().map((item) => ({ PutRequest: { Item: marshall(item) } }))
  for (let at = 0; at < puts.length; at += MOST_PUTS) {
    await client.send(new BatchWriteItemCommand({ RequestItems: { [name]: puts.slice(at, at + MOST_PUTS) } }))
  }
  return name
}
