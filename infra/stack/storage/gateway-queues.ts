import { Duration } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Key } from 'aws-cdk-lib/aws-kms'
import * as sqs from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { byQueue, type QueueName } from '../../../shared/queues.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from '../settings/queue-settings.ts'
import {
  type DeployedStage,
  removalPolicyBesidesTable,
  scheduleNames,
  stackNameOf,
} from '../stage.ts'
import { arnOf } from '../stage-stack.ts'

/** A message keeps its age in the dead-letter queue, which must keep messages longer. */
const RETENTION = Duration.days(4)
const DEAD_RETENTION = Duration.days(14)

/** Each with its dead-letter queue. */
export class GatewayQueues extends Construct {
  readonly byName: Readonly<Record<QueueName, sqs.IQueue>>
  /**
   * Runs of schedules that failed, were too late or could not start. The next run does their work.
   */
  readonly deadRuns: sqs.IQueue
  private readonly stage: DeployedStage
  /** Encrypted at rest and on the way; kept or removed with the stage. */
  private readonly queueProps: sqs.QueueProps

  constructor(scope: Construct, id: string, stage: DeployedStage, key?: Key) {
    super(scope, id)
    this.stage = stage
    this.queueProps = {
      ...(key
        ? { encryption: sqs.QueueEncryption.KMS, encryptionMasterKey: key }
        : { encryption: sqs.QueueEncryption.SQS_MANAGED }),
      enforceSSL: true,
      removalPolicy: removalPolicyBesidesTable(stage),
    }
    this.byName = byQueue((name) => this.addQueue(name))
    this.deadRuns = queueNamed(this, stackNameOf(stage, 'schedules-dead'))
    const deadRuns = this.addDeadLetterQueue(new Construct(this, 'schedules'), 'schedules')
    const rules = scheduleNames(stage).map((rule) => arnOf(this, 'events', `rule/${rule}`))
    deadRuns.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [deadRuns.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': rules } },
      }),
    )
  }

  private addQueue(name: QueueName) {
    const scope = new Construct(this, name)
    const queueName = stackNameOf(this.stage, name)
    // Queue and dead-letter queue name each other, which CloudFormation can make only by name.
    const source = queueNamed(scope, queueName)
    const queue = this.addDeadLetterQueue(new Construct(scope, 'Dead'), name, source)
    new sqs.Queue(scope, 'Queue', {
      ...this.queueProps,
      queueName,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(hiddenSecondsOf(name)),
      deadLetterQueue: { queue, maxReceiveCount: QUEUE_SETTINGS[name].maxReceives },
    })
    return source
  }

  /** An operator looks at the dead messages, and moves them back to their queue. */
  private addDeadLetterQueue(scope: Construct, name: string, source?: sqs.IQueue) {
    return new sqs.Queue(scope, 'Queue', {
      ...this.queueProps,
      queueName: stackNameOf(this.stage, `${name}-dead`),
      retentionPeriod: DEAD_RETENTION,
      redriveAllowPolicy: source
        ? { sourceQueues: [source] }
        : { redrivePermission: sqs.RedrivePermission.DENY_ALL },
    })
  }
}

/** Other stacks refer to a queue by its name, so that no stack depends on the data stack. */
function queueNamed(scope: Construct, name: string) {
  return sqs.Queue.fromQueueArn(scope, 'ByName', arnOf(scope, 'sqs', name))
}
