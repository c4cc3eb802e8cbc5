import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { SQSEvent, SQSRecord } from 'aws-lambda'
import * as v from 'valibot'
import { chunks } from '../../../shared/chunks.ts'
import { pollQueue } from '../emulators/poll-queue.ts'
import { SHOW_AGAIN_SECONDS } from '../emulators/queue-emulator.ts'
import { GROUP, VISIBLE_AT } from '../functions/local-queues.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { type FairLimits, fairSchedule } from './fair-schedule.ts'

type QueuePollerOptions = {
  readonly sqs: SQSClient
  readonly queueUrl: string
  readonly clock: LocalClock
  /** A message is retried if this throws or names it in `batchItemFailures`. */
  readonly invoke: (event: SQSEvent) => Promise<unknown>
  readonly limits: FairLimits
  /** From a failure to the next receive, on the local clock. */
  readonly retryAfterMs: number
}

/** Like the in-flight limit of SQS. Further messages stay in the queue. */
const MAX_HELD = 20_000
const BATCH = 10
/** The poller renews it for held messages. After a crash they are received again. */
const HIDDEN_SECONDS = 120
const RENEW_EVERY_MS = 40_000

const Reply = v.object({ batchItemFailures: v.array(v.object({ itemIdentifier: v.string() })) })

/**
 * Emulates Lambda's event source mapping on the local clock. Holds each message until it is due,
 * invokes the function with it alone, fairly between message groups, and deletes it only after
 * success. A failed message is retried after the visibility timeout, and the redrive policy moves
 * it to the dead-letter queue. If the process is killed, the message stays in the queue.
 */
export function startQueuePoller(options: QueuePollerOptions) {
  const { sqs, queueUrl, clock } = options
  const schedule = fairSchedule(options.limits)
  const heldHandles = new Set<string>()
  const removal = messageRemoval(sqs, queueUrl, (receiptHandle) =>
    heldHandles.delete(receiptHandle),
  )

  /** If a renewal fails, the message is received again. */
  const renew = async () => {
    for (const handles of chunks([...heldHandles], BATCH)) {
      const Entries = handles
        .filter((handle) => heldHandles.has(handle))
        .map((ReceiptHandle, at) => ({
          Id: String(at),
          ReceiptHandle,
          VisibilityTimeout: HIDDEN_SECONDS,
        }))
      if (Entries.length > 0)
        await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }))
    }
  }
  let runningRenewal: Promise<void> | undefined
  const renewal = setInterval(() => {
    runningRenewal ??= renew()
      .catch(() => undefined)
      .finally(() => {
        runningRenewal = undefined
      })
  }, RENEW_EVERY_MS)

  /** The message is received again, with a higher receive count. */
  const returnToQueue = async (ReceiptHandle: string) => {
    heldHandles.delete(ReceiptHandle)
    const VisibilityTimeout = SHOW_AGAIN_SECONDS
    await sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout }),
    )
  }

  const finish = async (message: Message, receiptHandle: string) => {
    try {
      if (await processMessage(options.invoke, message)) {
        removal.add(receiptHandle)
        return
      }
    } catch {
      // The function host logs the failure.
    }
    clock.at(
      clock.nowMs() + options.retryAfterMs,
      () => void returnToQueue(receiptHandle).catch(() => undefined),
    )
  }

  const accept = (message: Message) => {
    const receiptHandle = message.ReceiptHandle ?? ''
    heldHandles.add(receiptHandle)
    const run = () =>
      schedule.add(attribute(message, GROUP) ?? '', () => finish(message, receiptHandle))
    const visibleAtMs = Number(attribute(message, VISIBLE_AT) ?? 0)
    if (visibleAtMs > clock.nowMs()) clock.at(visibleAtMs, run)
    else run()
  }

  const stopReceiving = pollQueue(sqs, {
    request: {
      QueueUrl: queueUrl,
      VisibilityTimeout: HIDDEN_SECONDS,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    },
    accept,
    isFull: () => heldHandles.size >= MAX_HELD,
  })

  return {
    /** Messages that wait for their time or a slot, or run. */
    heldCount: () => heldHandles.size,
    handlersEnded: schedule.tasksEnded,
    /** Resolves after the running handlers have ended. Held messages stay in the queue. */
    close: async () => {
      clearInterval(renewal)
      await stopReceiving()
      await schedule.close()
      await removal.close()
    },
  }
}

/** After a kill before the delete the message is received again. Every worker is safe to repeat. */
const DELETE_WITHIN_MS = 100

/** `close` resolves after all added messages were deleted. */
function messageRemoval(
  sqs: SQSClient,
  queueUrl: string,
  whenDeleted: (receiptHandle: string) => void,
) {
  let waitingHandles: string[] = []
  let timer: NodeJS.Timeout | undefined
  const runningDeletes = new Set<Promise<void>>()

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const handles = waitingHandles
    waitingHandles = []
    if (handles.length === 0) return
    const Entries = handles.map((ReceiptHandle, at) => ({ Id: String(at), ReceiptHandle }))
    // A message that was received again meanwhile is deleted after that receive.
    const deletion = sqs
      .send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
      .catch(() => undefined)
      .then(() => {
        for (const handle of handles) whenDeleted(handle)
        runningDeletes.delete(deletion)
      })
    runningDeletes.add(deletion)
  }

  return {
    add: (receiptHandle: string) => {
      waitingHandles.push(receiptHandle)
      if (waitingHandles.length === BATCH) flush()
      else timer ??= setTimeout(flush, DELETE_WITHIN_MS)
    },
    close: async () => {
      flush()
      await Promise.all(runningDeletes)
    },
  }
}

async function processMessage(invoke: QueuePollerOptions['invoke'], message: Message) {
  const reply = v.safeParse(Reply, await invoke({ Records: [toRecord(message)] }))
  // As on AWS, an answer without the list of failures is a success.
  return !reply.success || reply.output.batchItemFailures.length === 0
}

function toRecord(message: Message): SQSRecord {
  const group = attribute(message, GROUP)
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: {
      ApproximateReceiveCount: message.Attributes?.ApproximateReceiveCount ?? '1',
      SentTimestamp: message.Attributes?.SentTimestamp ?? '0',
      SenderId: message.Attributes?.SenderId ?? '',
      ApproximateFirstReceiveTimestamp: message.Attributes?.ApproximateFirstReceiveTimestamp ?? '0',
      ...(group !== undefined && { MessageGroupId: group }),
    },
    messageAttributes: {},
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: '',
    awsRegion: '',
  }
}

function attribute(message: Message, name: string) {
  return message.MessageAttributes?.[name]?.StringValue
}
