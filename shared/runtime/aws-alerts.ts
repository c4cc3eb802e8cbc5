import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns'
import { assertInvariant } from '../errors.ts'
import type { Alerts } from '../operator/alerts.ts'

const SUBJECT_LIMIT = 100

/** Publishes to the operators' topic. The message is JSON, so that both people and programs can read it. */
export const snsAlerts = (client: SNSClient, topicArn: string | undefined): Alerts => ({
  publish: async (alert) => {
    assertInvariant(topicArn !== undefined, 'this function may not publish alerts')
    await client.send(
      new PublishCommand({
        TopicArn: topicArn,
        Subject: `${alert.kind}: ${alert.subject}`.slice(0, SUBJECT_LIMIT),
        Message: JSON.stringify(alert),
      }),
    )
  },
})
