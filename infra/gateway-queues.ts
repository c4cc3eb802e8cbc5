import { Duration } from 'aws-cdk-lib'
import * as sqs from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { MANIFEST } from '../functions/manifest.ts'
import type { QueueName } from '../shared/queues.ts'
import { MAX_RECEIVES, VISIBILITY_PER_TIMEOUT } from './queue-settings.ts'
import type { DeployedStage } from './stage.ts'

/** For a queue nothing reads yet. */
const DEFAULT_TIMEOUT_SECONDS = 60

const secureQueue = { encryption: sqs.QueueEncryption.SQS_MANAGED, enforceSSL: true } as const

/** A message that was set aside keeps the age it had in its queue, so it must be kept longer than the queue keeps any. */
const RETENTION = Duration.days(4)
const DEAD_RETENTION = Duration.days(14)

/** The longest timeout among the functions that the queue triggers. */
const consumerTimeoutSeconds = (name: QueueName): number => {
  const timeouts = MANIFEST.filter(({ trigger }) => trigger.kind === 'queue' && trigger.queue === name).map(
    ({ timeoutSeconds }) => timeoutSeconds,
  )
  return timeouts.length > 0 ? Math.max(...timeouts) : DEFAULT_TIMEOUT_SECONDS
}

/** Where what could not be read ends, for an operator to look at and move back. */
export class DeadLetterQueue extends Construct {
  readonly queue: sqs.Queue

  constructor(scope: Construct, id: string, { queueName, stage }: { queueName: string; stage: DeployedStage }) {
    super(scope, id)
    this.queue = new sqs.Queue(this, 'Queue', {
      ...secureQueue,
      queueName,
      retentionPeriod: DEAD_RETENTION,
      removalPolicy: stage.removalPolicy,
    })
  }
}

/** A queue and its dead-letter queue: neither exists without the other. */
export class QueueWithDeadLetters extends Construct {
  readonly queue: sqs.Queue
  readonly deadLetters: sqs.Queue

  constructor(scope: Construct, name: QueueName, stage: DeployedStage) {
    super(scope, name)
    const queueName = `gateway-${stage.settings.name}-${name}`
    this.deadLetters = new DeadLetterQueue(this, 'Dead', { queueName: `${queueName}-dead`, stage }).queue
    this.queue = new sqs.Queue(this, 'Queue', {
      ...secureQueue,
      queueName,
      retentionPeriod: RETENTION,
      visibilityTimeout: Duration.seconds(VISIBILITY_PER_TIMEOUT * consumerTimeoutSeconds(name)),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: MAX_RECEIVES },
      removalPolicy: stage.removalPolicy,
    })
  }
}

/** Every queue of the gateway. */
export class GatewayQueues extends Construct {
  readonly byName: Readonly<Record<QueueName, QueueWithDeadLetters>>
  /** Positions in the stream of events that could not be fanned out; the due work of their rows takes over. */
  readonly deadStreamRecords: sqs.Queue

  constructor(scope: Construct, id: string, stage: DeployedStage) {
    super(scope, id)
    this.byName = {
      webhooks: new QueueWithDeadLetters(this, 'webhooks', stage),
      settlements: new QueueWithDeadLetters(this, 'settlements', stage),
    }
    this.deadStreamRecords = new DeadLetterQueue(this, 'stream', {
      queueName: `gateway-${stage.settings.name}-stream-dead`,
      stage,
    }).queue
  }
}
