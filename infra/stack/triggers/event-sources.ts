import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { queuesOf } from '../../../functions/function-spec.ts'
import type { GatewayFunctions } from '../functions/gateway-functions.ts'
import { type DeployedStage, loadOf } from '../stage.ts'
import type { GatewayQueues } from './gateway-queues.ts'

type Props = {
  readonly stage: DeployedStage
  readonly queues: GatewayQueues
  readonly functions: GatewayFunctions
}

/** Connects each queue to the function that reads it. */
export class EventSources extends Construct {
  constructor(scope: Construct, id: string, { stage, queues, functions }: Props) {
    super(scope, id)
    for (const { spec, trigger, live } of functions.triggeredBy('queue')) {
      for (const { queue, batchSize, maxConcurrency } of queuesOf(trigger, loadOf(stage))) {
        new EventSourceMapping(this, queue === trigger.queue ? spec.name : `${spec.name}-slow`, {
          target: live,
          eventSourceArn: queues.byName[queue].queueArn,
          enabled: stage.role === 'open',
          batchSize,
          maxConcurrency,
          reportBatchItemFailures: true,
        })
      }
    }
  }
}
