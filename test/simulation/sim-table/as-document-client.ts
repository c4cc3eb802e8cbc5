import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

/**
 * Gives a function the type of the client that the gateway's deps hold. The stores only ever call `send` with a command,
 * so latency, throttles, conflicts and crashes go around `execute`.
 */
export const asDocumentClient = (execute: (command: object) => Promise<unknown>): DynamoDBDocumentClient =>
  ({ send: (command: object) => execute(command) }) as unknown as DynamoDBDocumentClient
