import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { onTestFinished } from 'vitest'
import { dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { testDeps } from '../../support/test-deps.ts'

/**
 * A client for what DynamoDB Local never does: eventual reads, unprocessed keys of a batch, and
 * conflicting writers.
 */
export function aMockedTable() {
  const client = mockClient(DynamoDBDocumentClient)
  onTestFinished(() => client.restore())
  const NAME = 'gateway-test'
  const waits: number[] = []
  const requests = dynamoDbRequests({ client: new DynamoDBClient({}), name: NAME }, async (ms) => {
    waits.push(ms)
  })
  return { client, deps: testDeps({ requests, sleep: async () => undefined }), NAME, waits }
}
