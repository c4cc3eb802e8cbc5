import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { chunks } from '../../chunks.ts'
import { assertInvariant } from '../../errors.ts'
import { assertDelay, type QueueMessage, type QueueName, type Queues } from '../../queues.ts'

/** SQS's limit of one request. */
const BATCH = 10

const entryOf = ({ body, delaySeconds, group }: QueueMessage) => ({
  MessageBody: JSON.stringify(body),
  DelaySeconds: delaySeconds,
  MessageGroupId: group,
})

/** Short timeouts, so that callbacks and workers do not wait. Due work sends the message again after a failure. */
const SEND_TIMEOUT_MS: Readonly<Partial<Record<QueueName, number>>> = { webhooks: 1_000, 'webhooks-slow': 1_000 }

type Target = { readonly QueueUrl: string; readonly mostMs: number | undefined }

const sendSome = async (
  client: SQSClient,
  { QueueUrl, mostMs }: Target,
  messages: readonly QueueMessage[],
): Promise<void> => {
  const options = mostMs === undefined ? {} : { abortSignal: AbortSignal.timeout(mostMs) }
  const [first, ...others] = messages.map(entryOf)
  if (first && others.length === 0)
    return void (await client.send(new SendMessageCommand({ QueueUrl, ...first }), options))
  const Entries = messages.map((message, at) => ({ Id: String(at), ...entryOf(message) }))
  const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }), options)
  if (Failed.length > 0) throw new Error(`${Failed.length} of ${messages.length} messages were not accepted`)
}

/** Sends to SQS. Throws for a queue that the function's manifest entry does not name. */
export const sqsQueues = (client: SQSClient, urls: Readonly<Record<QueueName, string | undefined>>): Queues => ({
  send: async (queue, ...messages) => {
    const url = urls[queue]
    assertInvariant(url !== undefined, `this function may not send to queue ${queue}`)
    for (const { delaySeconds } of messages) assertDelay(delaySeconds)
    const target = { QueueUrl: url, mostMs: SEND_TIMEOUT_MS[queue] }
    const sent = await Promise.allSettled(chunks(messages, BATCH).map((some) => sendSome(client, target, some)))
    for (const result of sent) if (result.status === 'rejected') throw result.reason
  },
})
