import { inject } from 'vitest'

/** Of the DynamoDB Local that belongs to this worker. */
export const dynamoDbEndpoint = (): string => {
  const endpoint = inject('dynamodbEndpoints')[Number(process.env['VITEST_POOL_ID']) - 1]
  if (endpoint === undefined) throw new Error('this worker has no DynamoDB Local')
  return endpoint
}
