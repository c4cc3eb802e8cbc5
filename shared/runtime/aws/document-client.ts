import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { AWS_HTTP_OPTIONS } from './aws-http-options.ts'

/** The document client every store uses: four tries, each with a deadline, undefined values left out. */
export const documentClient = (config: DynamoDBClientConfig = {}): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 4, requestHandler: AWS_HTTP_OPTIONS, ...config }), {
    marshallOptions: { removeUndefinedValues: true },
  })
