import { DeleteMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'

/** Deletes messages that are done, several with one request. */
export type MessageRemoval = {
  add(receiptHandle: string): void
  /** Resolves when what was added is deleted. */
  close(): Promise<void>
}

const BATCH = 10
/** A message that is not deleted when the process dies is handed out again, which every worker allows for. */
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
    // One that is refused was received again meanwhile: it is dropped as done, and deleted then.
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
