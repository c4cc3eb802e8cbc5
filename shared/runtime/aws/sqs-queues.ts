import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { chunks } from '../../chunks.ts'
import { assertInvariant } from '../../errors.ts'
import { assertDelay, type QueueMessage, type QueueName, type Queues } from '../../queues.ts'

/** What SQS takes in one request. */
const BATCH = 10

const entryOf = ({ body, delaySeconds, group }: QueueMessage) => ({
  MessageBody: JSON.stringify(body),
  DelaySeconds: delaySeconds,
  MessageGroupId: group,
})

/** Due work sends what these queues do not take at once: no callback and no worker waits for them longer. */
const HURRIED_MS: Readonly<Partial<Record<QueueName, number>>> = { webhooks: 1_000, 'webhooks-slow': 1_000 }

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
  if (Failed.length > 0) throw new Error(`${Failed.length} of ${messages.length} messages were not taken`)
}

/** Sends to SQS. A function can send only to queues its manifest entry names; another one is a programming error. */
export const sqsQueues = (client: SQSClient, urls: Readonly<Record<QueueName, string | undefined>>): Queues => ({
  send: async (queue, ...messages) => {
    const url = urls[queue]
    assertInvariant(url !== undefined, `this function may not send to queue ${queue}`)
    for (const { delaySeconds } of messages) assertDelay(delaySeconds)
    const target = { QueueUrl: url, mostMs: HURRIED_MS[queue] }
    const sent = await Promise.allSettled(chunks(messages, BATCH).map((some) => sendSome(client, target, some)))
    for (const result of sent) if (result.status === 'rejected') throw result.reason
  },
})
