import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { chunks } from '../../chunks.ts'
import type { Alerts } from '../../deps.ts'
import { assertInvariant } from '../../errors.ts'
import { assertDelay, type QueueMessage, type QueueName, type Queues } from '../../queues.ts'

/** SNS refuses a longer subject, and the alert would stay due for ever. */
const SUBJECT_LIMIT = 99

const PUBLISH_DEADLINE_MS = 2_000

/**
 * Shorter than the minute between two runs of due work, so that each run tries a silent topic
 * again.
 */
const SILENCE_MS = 30_000

/** Money flows wait for an alert, so after a timeout the topic is not tried for half a minute. */
export function snsAlerts(
  client: Pick<SNSClient, 'send'>,
  topicArn: string | undefined,
  nowMs: () => number,
): Alerts {
  let timedOutAtMs = Number.NEGATIVE_INFINITY
  return {
    publish: async (alert) => {
      assertInvariant(topicArn !== undefined, 'this function may not publish alerts')
      if (Math.abs(nowMs() - timedOutAtMs) < SILENCE_MS)
        throw new Error('the alert topic timed out less than 30 seconds ago; it is not tried yet')
      const abortSignal = AbortSignal.timeout(PUBLISH_DEADLINE_MS)
      const command = new PublishCommand({
        TopicArn: topicArn,
        Subject: `${alert.kind}: ${alert.subject}`.slice(0, SUBJECT_LIMIT),
        Message: JSON.stringify(alert),
      })
      try {
        await client.send(command, { abortSignal })
      } catch (error) {
        // A refusal is fast; only a timeout delays the caller.
        if (abortSignal.aborted) timedOutAtMs = nowMs()
        throw error
      }
    },
  }
}

const BATCH_SIZE = 10

/**
 * Short timeouts, so that callbacks and workers do not wait. After a failure due work sends the
 * message again.
 */
const WEBHOOKS_TIMEOUT_MS = 1_000

/** Throws for a queue that the function's manifest entry does not name. */
export function sqsQueues(
  client: SQSClient,
  urls: Readonly<Record<QueueName, string | undefined>>,
): Queues {
  return {
    send: async (queue, ...messages) => {
      const QueueUrl = urls[queue]
      assertInvariant(QueueUrl !== undefined, `this function may not send to queue ${queue}`)
      for (const { delaySeconds } of messages) assertDelay(delaySeconds)
      const sendBatch = async (batch: readonly QueueMessage[]) => {
        const Entries = batch.map(({ body, delaySeconds, group }, at) => ({
          Id: String(at),
          MessageBody: JSON.stringify(body),
          DelaySeconds: delaySeconds,
          MessageGroupId: group,
        }))
        const options = queue.startsWith('webhooks')
          ? { abortSignal: AbortSignal.timeout(WEBHOOKS_TIMEOUT_MS) }
          : {}
        const { Failed = [] } = await client.send(
          new SendMessageBatchCommand({ QueueUrl, Entries }),
          options,
        )
        if (Failed.length > 0)
          throw new Error(`${Failed.length} of ${batch.length} messages were not accepted`)
      }
      const results = await Promise.allSettled(chunks(messages, BATCH_SIZE).map(sendBatch))
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
  }
}
