import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { chunks } from '../../../shared/chunks.ts'
import { assertDelay, type QueueName, type Queues } from '../../../shared/queues.ts'
import type { LocalClock } from '../process/local-clock.ts'

/**
 * The time from which the queue poller may process the message, in milliseconds on the local clock.
 */
export const VISIBLE_AT = 'visible_at'
/** The emulator drops the group of a standard queue's message, so an attribute has it. */
export const GROUP = 'group'

/**
 * SQS would count a delay on the machine's clock. So the message is sent at once, with its due time
 * on the local clock.
 */
export function localQueues(
  client: SQSClient,
  urls: Readonly<Record<QueueName, string>>,
  clock: Pick<LocalClock, 'nowMs'>,
): Queues {
  return {
    send: async (queue, ...messages) => {
      for (const batch of chunks(messages, 10)) {
        const Entries = batch.map(({ body, delaySeconds, group }, at) => {
          assertDelay(delaySeconds)
          return {
            Id: String(at),
            MessageBody: JSON.stringify(body),
            DelaySeconds: 0,
            MessageAttributes: {
              [VISIBLE_AT]: {
                DataType: 'Number',
                StringValue: String(clock.nowMs() + delaySeconds * 1_000),
              },
              [GROUP]: { DataType: 'String', StringValue: group },
            },
          }
        })
        const { Failed = [] } = await client.send(
          new SendMessageBatchCommand({ QueueUrl: urls[queue], Entries }),
        )
        if (Failed.length > 0) throw new Error(`the queue refused ${Failed.length} messages`)
      }
    },
  }
}
