import * as sns from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import type { DeployedStage } from './stage.ts'

/** The topic that wakes operators. Who is woken is a matter of subscriptions, made after the deployment. */
export class OperatorAlerts extends Construct {
  readonly topic: sns.Topic

  constructor(scope: Construct, id: string, stage: DeployedStage) {
    super(scope, id)
    this.topic = new sns.Topic(this, 'Topic', {
      topicName: `gateway-${stage.settings.name}-alerts`,
      displayName: `Payment gateway ${stage.settings.name}`,
      enforceSSL: true,
    })
  }
}
