import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { AWS_HTTP_OPTIONS } from './aws-http-options.ts'
import { withoutLog } from './without-log.ts'

/**
 * The client of every table: four tries, unless the function has fewer, each with a timeout. It caches the middleware
 * stack of each kind of command.
 */
export const dynamoDbClient = (config: DynamoDBClientConfig = {}): DynamoDBClient =>
  withoutLog(new DynamoDBClient({ maxAttempts: 4, requestHandler: AWS_HTTP_OPTIONS, cacheMiddleware: true, ...config }))
