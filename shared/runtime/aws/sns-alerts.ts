import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns'
import type { Alerts } from '../../alerts.ts'
import { assertInvariant } from '../../errors.ts'

const SUBJECT_LIMIT = 100

/** All tries of one publish together. Every alert has its place in the due work, so giving up early loses none. */
const PUBLISH_DEADLINE_MS = 2_000

/** Shorter than the minute between two runs of due work, so that each of them asks a silent topic again. */
const SILENCE_MS = 30_000

/**
 * Publishes to the operators' topic. The message is JSON, so that both people and programs can read it. Alerts are
 * published on the way of money: one waits for a topic that hangs, those of the next half minute do not.
 */
export const snsAlerts = (
  client: Pick<SNSClient, 'send'>,
  topicArn: string | undefined,
  monotonicMs: () => number,
): Alerts => {
  let silentUntilMs = Number.NEGATIVE_INFINITY
  return {
    publish: async (alert) => {
      assertInvariant(topicArn !== undefined, 'this function may not publish alerts')
      if (monotonicMs() < silentUntilMs) throw new Error('the alert topic did not answer a moment ago')
      const abortSignal = AbortSignal.timeout(PUBLISH_DEADLINE_MS)
      const command = new PublishCommand({
        TopicArn: topicArn,
        Subject: `${alert.kind}: ${alert.subject}`.slice(0, SUBJECT_LIMIT),
        Message: JSON.stringify(alert),
      })
      try {
        await client.send(command, { abortSignal })
      } catch (error) {
        // An answer, even a refusal, costs no time; only silence does.
        if (abortSignal.aborted) silentUntilMs = monotonicMs() + SILENCE_MS
        throw error
      }
    },
  }
}
