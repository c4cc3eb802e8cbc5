import type { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { ListSubscriptionsByTopicCommand, type SNSClient } from '@aws-sdk/client-sns'
import { nameOfResource, type StageTemplate } from '../../stack/stage-template.ts'
import { deployedResourceId } from '../check/deployed-stack.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { look } from '../check/look.ts'

const PENDING = 'PendingConfirmation'

/**
 * Whether somebody is told: a topic with nobody behind it wakes nobody. A stage without alarms asks for nobody, so nothing
 * is wrong there.
 */
export const checkAlerts = async (
  { sns, cloudFormation }: { readonly sns: SNSClient; readonly cloudFormation: CloudFormationClient },
  { ofType, stackName }: Pick<StageTemplate, 'ofType' | 'stackName'>,
): Promise<readonly Finding[]> => {
  const wanted = ofType('AWS::CloudWatch::Alarm').length > 0
  const found = await Promise.all(
    ofType('AWS::SNS::Topic').map((topic) => {
      const what = `topic ${nameOfResource(topic, 'TopicName')}`
      return look(what, async () => {
        const TopicArn = await deployedResourceId(cloudFormation, { stackName, logicalId: topic.logicalId })
        if (TopicArn === undefined) return wrong(what, 'is missing', 'npm run deploy')
        return checkSubscriptions(sns, { what, TopicArn, wanted })
      })
    }),
  )
  return found.flat()
}

const checkSubscriptions = async (
  sns: SNSClient,
  { what, TopicArn, wanted }: { readonly what: string; readonly TopicArn: string; readonly wanted: boolean },
): Promise<Finding> => {
  // One page holds a hundred, more than anyone should wake.
  const { Subscriptions: all = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }))
  const pending = all.filter(({ SubscriptionArn }) => SubscriptionArn === PENDING).length
  const confirmed = all.length - pending
  const detail = `${confirmed} confirmed, ${pending} waiting for confirmation`
  if (confirmed > 0) return ok(what, detail)
  if (!wanted) return ok(what, `${detail}; a stage without alarms needs none`)
  const todo =
    pending > 0
      ? 'confirm by the link in the mail AWS sent'
      : 'set alarmRecipients and pageRecipients in infra/stack/stage.ts and deploy, or subscribe someone'
  return wrong(what, detail, todo)
}
