import { Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Key } from 'aws-cdk-lib/aws-kms'
import * as sns from 'aws-cdk-lib/aws-sns'
import { EmailSubscription, UrlSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import { type DeployedStage, hasAlarms, stackNameOf } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

type Props = {
  readonly stage: DeployedStage
  /**
   * `alerts`: every alarm and alert, read during the day. `pages`: what must wake a person.
   * `front-…`: the same for the front, maybe in the same region. `copies-pages`: who weakens the
   * copies in another region.
   */
  readonly name: 'alerts' | 'pages' | 'front-alerts' | 'front-pages' | 'copies-pages'
  readonly key?: Key | undefined
}

/**
 * AWS asks the recipients once to confirm. Operators make other subscriptions after the deployment.
 */
export function operatorTopic(parent: Construct, id: string, { stage, name, key }: Props) {
  const scope = new Construct(parent, id)
  const topicName = stackNameOf(stage, name)
  const { settings, alarmRecipients, pageRecipients = alarmRecipients } = stage
  const isOfPages = name.endsWith('pages')
  const topic = new sns.Topic(scope, 'Topic', {
    topicName,
    displayName: `Payment gateway ${settings.name}${isOfPages ? ' pages' : ''}`,
    enforceSSL: true,
    ...(key && { masterKey: key }),
  })
  // Replaces the default policy, which lets the account's alarms publish. Our functions publish by
  // their roles.
  const publish = { actions: ['sns:Publish'], resources: [topic.topicArn] }
  topic.addToResourcePolicy(
    new PolicyStatement({
      ...publish,
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  )
  // A `ProtectionRule` writes to these. With a condition AWS refuses every event of EventBridge.
  if (hasAlarms(stage) && (name === 'alerts' || name === 'copies-pages'))
    topic.addToResourcePolicy(
      new PolicyStatement({
        ...publish,
        principals: [new ServicePrincipal('events.amazonaws.com')],
      }),
    )
  for (const recipient of isOfPages ? pageRecipients : alarmRecipients)
    topic.addSubscription(subscriptionOf(recipient))
  // The topic is found by its name, so that other stacks do not depend on this stack.
  return sns.Topic.fromTopicArn(scope, 'ByName', arnOf(scope, 'sns', topicName))
}

function subscriptionOf(recipient: string): sns.ITopicSubscription {
  return recipient.startsWith('https://')
    ? new UrlSubscription(recipient)
    : new EmailSubscription(recipient)
}
