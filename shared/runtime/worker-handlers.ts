import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type InjectableHandler, injectable } from './injectable.ts'

/**
 * Wraps a queue's worker. Only failed messages return to the queue. An unreadable message ends in
 * the dead-letter queue.
 */
export function queueHandler<const Schema extends v.GenericSchema>(
  message: Schema,
  run: (message: v.InferOutput<Schema>, deps: Deps) => Promise<unknown>,
): InjectableHandler<SQSEvent, SQSBatchResponse> {
  return injectable((deps) => async ({ Records: records }, { functionName }) => {
    const results = await Promise.allSettled(
      records.map(async ({ body }) => run(v.parse(message, JSON.parse(body)), deps)),
    )
    const batchItemFailures = records.flatMap(({ messageId }, at) => {
      const result = results[at]
      if (result?.status !== 'rejected') return []
      deps.log.error(
        'message.failed',
        { function: functionName, message_id: messageId },
        result.reason,
      )
      return [{ itemIdentifier: messageId }]
    })
    return { batchItemFailures }
  })
}

type ScheduledWork = { readonly summary: string }

/**
 * Wraps a scheduled function. A failure is logged here, and the thrown error has no cause: Lambda
 * would log the cause, and a table error carries whole items. In a closed stage nothing runs: after
 * a restore the sync would post partly restored payments twice.
 */
export function scheduleHandler(
  { summary }: ScheduledWork,
  run: (deps: Deps) => Promise<object>,
): InjectableHandler<unknown, object> & ScheduledWork {
  return Object.assign(
    injectable<unknown, object>((deps) => async (_, { functionName }) => {
      if (deps.stage.isClosed === true)
        throw new Error('the stage is closed: recount the ledgers and open it first')
      const summaryOfRun = await run(deps).catch((error: unknown) => {
        deps.log.error('invocation.failed', { function: functionName }, error)
      })
      if (summaryOfRun === undefined) throw new Error('the run failed; see its log for the cause')
      return summaryOfRun
    }),
    { summary },
  )
}
