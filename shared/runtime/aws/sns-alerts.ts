import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns'
import type { Alerts } from '../../alerts.ts'
import { assertInvariant } from '../../errors.ts'

const SUBJECT_LIMIT = 100

/** Timeout of all tries of one publish. Due work publishes a failed alert again, so none is lost. */
const PUBLISH_DEADLINE_MS = 2_000

/** Shorter than the minute between two runs of due work, so that each run tries a silent topic again. */
const SILENCE_MS = 30_000

/**
 * Publishes JSON to the operators' topic. Money flows wait for it, so after a timeout the alerts of the next half
 * minute fail immediately.
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
      if (monotonicMs() < silentUntilMs)
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
        if (abortSignal.aborted) silentUntilMs = monotonicMs() + SILENCE_MS
        throw error
      }
    },
  }
}
