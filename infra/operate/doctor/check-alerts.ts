import type { Stack } from '@aws-sdk/client-cloudformation'
import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns'
import { outputOf } from '../check/described-stack.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { runCheck } from '../check/run-check.ts'

/**
 * Whether each topic has a confirmed subscriber. A stage without alarms needs none.
 */
export const checkAlerts = async (sns: SNSClient, stack: Stack, hasAlarms: boolean): Promise<readonly Finding[]> => {
  const outputs = hasAlarms ? ['AlertsTopicArn', 'PagesTopicArn'] : ['AlertsTopicArn']
  const found = outputs.map(async (output) => {
    const TopicArn = outputOf(stack, output)
    const what = `topic ${TopicArn?.split(':').at(-1) ?? output}`
    if (TopicArn === undefined) return [wrong(what, 'is no output of the stack', 'npm run deploy')]
    return runCheck(what, async () => {
      // One page holds a hundred, more than anyone should wake.
      const { Subscriptions: all = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }))
      const pending = all.filter(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation').length
      const detail = `${all.length - pending} confirmed, ${pending} waiting for confirmation`
      if (all.length > pending) return ok(what, detail)
      if (!hasAlarms) return ok(what, `${detail}; a stage without alarms needs none`)
      return wrong(what, detail, pending > 0 ? 'confirm by the link in the mail AWS sent' : NO_SUBSCRIBER)
    })
  })
  return (await Promise.all(found)).flat()
}

const NO_SUBSCRIBER =
  'set alarmRecipients and pageRecipients in infra/stages/STAGE.json and deploy, or subscribe someone'
