import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'

/** Deletes processed messages in batches. */
export type MessageRemoval = {
  add(receiptHandle: string): void
  /** Resolves after all added messages were deleted. */
  close(): Promise<void>
}

const BATCH = 10
/** If the process is killed before the delete, the message is received again. Every worker is safe to repeat. */
const AT_MOST_AFTER_MS = 100

export const messageRemoval = (
  sqs: SQSClient,
  queueUrl: string,
  whenDeleted: (receiptHandle: string) => void,
): MessageRemoval => {
  let waiting: string[] = []
  let timer: NodeJS.Timeout | undefined
  const running = new Set<Promise<void>>()

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const handles = waiting
    waiting = []
    if (handles.length === 0) return
    const Entries = handles.map((ReceiptHandle, at) => ({ Id: String(at), ReceiptHandle }))
    // A refused delete means that the message was received again meanwhile. It is deleted after that receive.
    const deleted = sqs
      .send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
      .catch(() => undefined)
      .then(() => {
        for (const handle of handles) whenDeleted(handle)
        running.delete(deleted)
      })
    running.add(deleted)
  }

  return {
    add: (receiptHandle) => {
      waiting.push(receiptHandle)
      if (waiting.length === BATCH) flush()
      else timer ??= setTimeout(flush, AT_MOST_AFTER_MS)
    },
    close: async () => {
      flush()
      await Promise.all(running)
    },
  }
}
