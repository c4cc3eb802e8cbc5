import { Stack } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Key } from 'aws-cdk-lib/aws-kms'
import * as sns from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { DeployedStage } from './stage.ts'

/**
 * The topic that wakes operators: alarms and alerts. The stage's recipients are asked by e-mail to confirm; other
 * subscriptions, such as a pager's, are made after the deployment.
 */
export class OperatorAlerts extends Construct {
  readonly topic: sns.Topic

  constructor(scope: Construct, id: string, stage: DeployedStage, key?: Key) {
    super(scope, id)
    this.topic = new sns.Topic(this, 'Topic', {
      topicName: `gateway-${stage.settings.name}-alerts`,
      displayName: `Payment gateway ${stage.settings.name}`,
      enforceSSL: true,
      ...(key && { masterKey: key }),
    })
    // A policy of one's own replaces the one a topic is born with, by which alarms of the account could publish. Our
    // functions publish by their roles.
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    )
    for (const recipient of stage.alarmRecipients) this.topic.addSubscription(new EmailSubscription(recipient))
  }
}
