import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { AWS_HTTP_OPTIONS } from './aws-http-options.ts'
import { withoutLog } from './without-log.ts'

/**
 * The client under every table: four tries unless its function has fewer, each with a deadline. What a command passes
 * through on its way is put together for the first one of its kind and kept.
 */
export const dynamoDbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient =>
  withoutLog(new DynamoDBClient({ maxAttempts: 4, requestHandler: AWS_HTTP_OPTIONS, cacheMiddleware: true, ...config }))
