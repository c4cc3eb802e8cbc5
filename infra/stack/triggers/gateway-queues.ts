import { Duration } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Key } from 'aws-cdk-lib/aws-kms'
import * as sqs from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { byQueue, type QueueName } from '../../../shared/queues.ts'
import { stackNameOf } from '../stack-name-of.ts'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from './queue-settings.ts'

type Encrypted = { readonly stage: DeployedStage; readonly key: Key | undefined }

/** Encrypted at rest and on the way, and kept or removed with its stage. */
const secure = ({ stage, key }: Encrypted): sqs.QueueProps => ({
  ...(key
    ? { encryption: sqs.QueueEncryption.KMS, encryptionMasterKey: key }
    : { encryption: sqs.QueueEncryption.SQS_MANAGED }),
  enforceSSL: true,
  removalPolicy: removalPolicyBesidesTable(stage),
})

/** A message that was set aside keeps the age it had in its queue, so it must be kept longer than the queue keeps any. */
const RETENTION = Duration.days(4)
const DEAD_RETENTION = Duration.days(14)

/** Where what could not be read ends, for an operator to look at and move back to its one queue, if it came from one. */
export class DeadLetterQueue extends Construct {
  readonly name: string
  readonly queue: sqs.Queue

  constructor(
    scope: Construct,
    id: string,
    { name, source, ...encrypted }: Encrypted & { readonly name: string; readonly source?: sqs.IQueue },
  ) {
    super(scope, id)
    this.name = name
    this.queue = new sqs.Queue(this, 'Queue', {
      ...secure(encrypted),
      queueName: name,
      retentionPeriod: DEAD_RETENTION,
      redriveAllowPolicy: source ? { sourceQueues: [source] } : { redrivePermission: sqs.RedrivePermission.DENY_ALL },
    })
  }
}

const queueNamed = (scope: Construct, name: string): sqs.IQueue =>
  sqs.Queue.fromQueueArn(scope, 'ByName', arnOf(scope, 'sqs', name))

/** A queue and its dead-letter queue: neither exists without the other. */
export class QueueWithDeadLetters extends Construct {
  readonly name: string
  /** By its name, so that other stacks refer to nothing of this one. */
  readonly queue: sqs.IQueue
  readonly deadLetters: sqs.Queue

  constructor(scope: Construct, name: QueueName, encrypted: Encrypted) {
    super(scope, name)
    const queueName = stackNameOf(encrypted.stage, name)
    this.name = queueName
    // Each of the two queues names the other, which CloudFormation cannot make in any order by reference.
    this.queue = queueNamed(this, queueName)
    const source = this.queue
    this.deadLetters = new DeadLetterQueue(this, 'Dead', { ...encrypted, name: `${queueName}-dead`, source }).queue
    new sqs.Queue(this, 'Queue', {
      ...secure(encrypted),
      queueName,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(hiddenSecondsOf(name)),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: QUEUE_SETTINGS[name].maxReceives },
    })
  }
}

/** Every queue of the gateway. */
export class GatewayQueues extends Construct {
  readonly byName: Readonly<Record<QueueName, QueueWithDeadLetters>>
  /** Runs of schedules that failed, came too late or could not be started; the next run does what they left. */
  readonly deadRuns: sqs.IQueue

  constructor(scope: Construct, id: string, stage: DeployedStage, key?: Key) {
    super(scope, id)
    const encrypted = { stage, key }
    const name = stackNameOf(stage, 'schedules-dead')
    this.byName = byQueue((queue) => new QueueWithDeadLetters(this, queue, encrypted))
    this.deadRuns = queueNamed(this, name)
    this.letSchedulesSetAside(stage, new DeadLetterQueue(this, 'schedules', { ...encrypted, name }).queue)
  }

  private letSchedulesSetAside({ settings }: DeployedStage, deadRuns: sqs.Queue): void {
    const rules = MANIFEST.filter(({ trigger }) => trigger.kind === 'schedule').map((spec) =>
      arnOf(this, 'events', `rule/${functionName(settings.name, spec)}`),
    )
    deadRuns.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [deadRuns.queueArn],
        conditions: { ArnEquals: { 'aws:SourceArn': rules } },
      }),
    )
  }
}
