import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda'
import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { fromItem, type Item } from '../table/attributes.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

// The Lambda types and the SDK name the same wire format differently.
export const ImageSchema = v.custom<Record<string, AttributeValue>>(
  (image) => typeof image === 'object' && image !== null,
)

/**
 * Wraps a reader of the table's stream. Records run in order; at the first failure the batch is handed back from
 * there, so nothing behind it is lost and nothing before it is repeated.
 */
export const streamHandler = (
  run: (image: Item, deps: Deps) => Promise<void>,
): InjectableHandler<DynamoDBStreamEvent, DynamoDBBatchResponse> =>
  injectable((deps) => async ({ Records: records }, { functionName }) => {
    for (const { dynamodb } of records) {
      try {
        await run(fromItem(unmarshall(v.parse(ImageSchema, dynamodb?.NewImage))), deps)
      } catch (error) {
        deps.log.error('message.failed', { function: functionName, message_id: dynamodb?.SequenceNumber }, error)
        return { batchItemFailures: [{ itemIdentifier: dynamodb?.SequenceNumber ?? '' }] }
      }
    }
    return { batchItemFailures: [] }
  })
