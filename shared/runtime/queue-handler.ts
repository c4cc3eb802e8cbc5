import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

/**
 * Wraps a queue's worker. Messages of a batch run in parallel; a failed message returns to its queue alone. An
 * unreadable message fails too, so that it reaches the dead-letter queue for an operator.
 */
export const queueHandler = <const Schema extends v.GenericSchema>(
  message: Schema,
  run: (message: v.InferOutput<Schema>, deps: Deps) => Promise<void>,
): InjectableHandler<SQSEvent, SQSBatchResponse> =>
  injectable((deps) => async ({ Records: records }, { functionName }) => {
    const results = await Promise.allSettled(
      records.map(async ({ body }) => run(v.parse(message, JSON.parse(body)), deps)),
    )
    const batchItemFailures: { itemIdentifier: string }[] = []
    for (const [at, { messageId }] of records.entries()) {
      const result = results[at]
      if (result?.status !== 'rejected') continue
      deps.log.error('message.failed', { function: functionName, message_id: messageId }, result.reason)
      batchItemFailures.push({ itemIdentifier: messageId })
    }
    return { batchItemFailures }
  })
