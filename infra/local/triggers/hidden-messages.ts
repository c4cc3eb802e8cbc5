import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { chunks } from '../../../shared/chunks.ts'

/** Received messages that stay hidden in the queue, without a time limit, until they are deleted or given back. */
export type HiddenMessages = {
  readonly size: number
  add(receiptHandle: string): void
  /** Stops the renewal of a deleted message. */
  forget(receiptHandle: string): void
  /** Returns the message to the queue. It is received again, with a higher receive count. */
  giveBack(receiptHandle: string): Promise<void>
  close(): void
}

export const HIDDEN_SECONDS = 120
const RENEW_EVERY_MS = 40_000
const BATCH = 10
/** The shortest visibility timeout: 0 fails in the emulator when messages are on disk. */
const SHOW_AGAIN_SECONDS = 1

/** Renews the visibility timeout of every added message, so that the queue does not deliver it a second time. */
export const hiddenMessages = (sqs: SQSClient, queueUrl: string): HiddenMessages => {
  const handles = new Set<string>()
  let renewing: Promise<void> | undefined

  const renew = async () => {
    for (const some of chunks([...handles], BATCH)) {
      const entries = some
        .filter((handle) => handles.has(handle))
        .map((ReceiptHandle, at) => ({ Id: String(at), ReceiptHandle, VisibilityTimeout: HIDDEN_SECONDS }))
      if (entries.length > 0) {
        await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries: entries }))
      }
    }
  }

  const timer = setInterval(() => {
    // After a failed renewal the message is received again. Every worker is safe to repeat.
    renewing ??= renew()
      .catch(() => undefined)
      .finally(() => {
        renewing = undefined
      })
  }, RENEW_EVERY_MS)
  timer.unref()

  return {
    get size() {
      return handles.size
    },
    add: (receiptHandle) => void handles.add(receiptHandle),
    forget: (receiptHandle) => void handles.delete(receiptHandle),
    giveBack: async (receiptHandle) => {
      handles.delete(receiptHandle)
      await sqs.send(
        new ChangeMessageVisibilityCommand({
          QueueUrl: queueUrl,
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: SHOW_AGAIN_SECONDS,
        }),
      )
    },
    close: () => {
      clearInterval(timer)
      handles.clear()
    },
  }
}
