import type { Request } from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { type InjectableHandler, injectable, pipeline } from './injectable.ts'

/** An unreadable message ends in the dead-letter queue. */
export function queueHandler<const Schema extends v.GenericSchema>(
  message: Schema,
  run: (deps: Deps, message: v.InferOutput<Schema>) => Promise<unknown>,
): InjectableHandler<SQSEvent, SQSBatchResponse> {
  return injectable((deps) =>
    pipeline([partialFailures(deps)], async ({ Records: records }: SQSEvent) =>
      Promise.allSettled(
        records.map(async ({ body }) => run(deps, v.parse(message, JSON.parse(body)))),
      ),
    ),
  )
}

/** Only failed messages return to the queue. */
function partialFailures({ log }: Deps) {
  return {
    after: (batch: Request<SQSEvent, PromiseSettledResult<unknown>[]>) => {
      const batchItemFailures = batch.event.Records.flatMap(({ messageId }, at) => {
        const result = batch.response?.[at]
        if (result?.status !== 'rejected') return []
        const fields = { function: batch.context.functionName, message_id: messageId }
        log.error('message.failed', fields, result.reason)
        return [{ itemIdentifier: messageId }]
      })
      Object.assign(batch, { response: { batchItemFailures } })
    },
  }
}

type ScheduledWork = { readonly summary: string }

export function scheduleHandler(
  { summary }: ScheduledWork,
  run: (deps: Deps) => Promise<object>,
): InjectableHandler<unknown, object> & ScheduledWork {
  return Object.assign(
    injectable<unknown, object>((deps) =>
      pipeline(
        [openStage(deps)],
        pipeline([failureLine(deps)], async () => run(deps)),
      ),
    ),
    { summary },
  )
}

/** In a closed stage nothing runs: after a restore the sync would post restored payments twice. */
function openStage({ stage }: Deps) {
  return {
    before: () => {
      if (stage.isClosed === true)
        throw new Error('the stage is closed: recount the ledgers and open it first')
    },
  }
}

/** Lambda logs the error with its cause, and a table error carries whole items. */
function failureLine({ log }: Deps) {
  return {
    onError: (run: Request) => {
      log.error('invocation.failed', { function: run.context.functionName }, run.error)
      run.error = new Error('the run failed; see its log for the cause')
    },
  }
}
