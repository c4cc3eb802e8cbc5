import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { assertInvariant } from '../../errors.ts'
import { assertDelay, type QueueName, type Queues } from '../../queues.ts'

/** Sends to SQS. A function can send only to queues its manifest entry names; another one is a programming error. */
export const sqsQueues = (client: SQSClient, urls: Readonly<Partial<Record<QueueName, string>>>): Queues => ({
  send: async (queue, { body, delaySeconds, group }) => {
    const url = urls[queue]
    assertInvariant(url !== undefined, `this function may not send to queue ${queue}`)
    assertDelay(delaySeconds)
    await client.send(
      new SendMessageCommand({
        QueueUrl: url,
        MessageBody: JSON.stringify(body),
        DelaySeconds: delaySeconds,
        MessageGroupId: group,
      }),
    )
  },
})
