import { DeleteMessageCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { TimestampSchema, timestampOf } from '../../../shared/time.ts'
import { appendJsonLine, readJsonLines, writeJsonLines } from '../process/json-file.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { pollQueue } from './poll-queue.ts'

const PublishedAlert = v.object({ kind: v.string(), subject: v.string(), message: v.string() })
const KeptAlert = v.object({ id: v.string(), at: TimestampSchema, ...PublishedAlert.entries })

/**
 * The operators' mailbox. With a file, it writes an alert there before it deletes the message, so a
 * crash loses none. A message that comes twice is stored once.
 */
export function startAlertInbox(options: {
  readonly sqs: SQSClient
  readonly queueUrl: string
  readonly clock: Pick<LocalClock, 'nowMs'>
  readonly file?: string | undefined
}) {
  const { sqs, queueUrl, file } = options
  const keptAlerts = file === undefined ? [] : readJsonLines(file, KeptAlert)
  // The message of a last line without its end is still in the queue.
  if (file !== undefined) writeJsonLines(file, keptAlerts)
  const knownIds = new Set(keptAlerts.map(({ id }) => id))

  const keepAlert = (message: Message) => {
    const id = message.MessageId ?? ''
    if (knownIds.has(id)) return
    const alert = { id, at: timestampOf(options.clock.nowMs()), ...readAlert(message.Body ?? '') }
    if (file !== undefined) appendJsonLine(file, alert)
    knownIds.add(id)
    keptAlerts.push(alert)
  }

  const accept = async (message: Message) => {
    keepAlert(message)
    await sqs.send(
      new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle: message.ReceiptHandle }),
    )
  }

  return {
    /** The published alerts, oldest first. */
    alerts: () =>
      keptAlerts.map(({ at, kind, subject, message }) => ({ at, kind, subject, message })),
    close: pollQueue(sqs, { request: { QueueUrl: queueUrl }, accept }),
  }
}

export type AlertInbox = ReturnType<typeof startAlertInbox>

/** The operator must see a message in another format too. */
function readAlert(body: string) {
  try {
    return v.parse(PublishedAlert, JSON.parse(body))
  } catch {
    return { kind: 'unreadable', subject: '', message: body }
  }
}
