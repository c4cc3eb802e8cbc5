import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { chunks } from '../../../shared/chunks.ts'

/** Received messages that are ours until we say otherwise, however long they wait. */
export type HiddenMessages = {
  readonly size: number
  add(receiptHandle: string): void
  /** No longer renewed: it was deleted. */
  forget(receiptHandle: string): void
  /** Gives the message back: it is received again, one receive older. */
  giveBack(receiptHandle: string): Promise<void>
  close(): void
}

export const HIDDEN_SECONDS = 120
const RENEW_EVERY_MS = 40_000
const BATCH = 10
/** The emulator cannot show a message again at once when it keeps messages on disk. */
const SHOW_AGAIN_SECONDS = 1

/** Renews the visibility of every message in it, so that the queue shows none of them to us a second time. */
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
    // A renewal that fails leaves its message to the queue: it is received again, which every worker allows for.
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
