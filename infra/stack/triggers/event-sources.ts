import { Duration } from 'aws-cdk-lib'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { queuesOf } from '../../../functions/function-spec.ts'
import type { GatewayFunctions } from '../functions/gateway-functions.ts'
import type { DeployedStage } from '../stage.ts'
import type { GatewayQueues } from './gateway-queues.ts'

/**
 * A record that keeps failing holds up the ones behind it in its shard. The outbox row's own due work fans it out a few
 * minutes later, so the stream gives up soon.
 */
const STREAM_RETRIES = 5
const STREAM_RECORD_AGE = Duration.hours(1)

/** Batches of one shard that run side by side. Events of one payment stay in order, others need none. */
const STREAM_BATCHES_PER_SHARD = 10

type Props = {
  readonly stage: DeployedStage
  readonly table: TableV2
  readonly queues: GatewayQueues
  readonly functions: GatewayFunctions
}

/** Connects queues and the table's stream to the functions that read them. */
export class EventSources extends Construct {
  constructor(scope: Construct, id: string, { stage, table, queues, functions }: Props) {
    super(scope, id)
    for (const { spec, trigger, lambda } of functions.triggeredBy('queue')) {
      for (const { queue, batchSize, maxConcurrency } of queuesOf(trigger, stage.settings.providerCallsPerMinute)) {
        new EventSourceMapping(this, queue === trigger.queue ? spec.name : `${spec.name}-slow`, {
          target: lambda,
          eventSourceArn: queues.byName[queue].queue.queueArn,
          batchSize,
          maxConcurrency,
          reportBatchItemFailures: true,
        })
      }
    }
    for (const { spec, trigger, lambda } of functions.triggeredBy('stream')) {
      new EventSourceMapping(this, spec.name, {
        target: lambda,
        eventSourceArn: streamArn(table),
        startingPosition: StartingPosition.TRIM_HORIZON,
        batchSize: trigger.batchSize,
        parallelizationFactor: STREAM_BATCHES_PER_SHARD,
        filters: [
          FilterCriteria.filter({
            eventName: FilterRule.isEqual('INSERT'),
            dynamodb: { Keys: { sk: { S: FilterRule.beginsWith(trigger.insertedSkPrefix) } } },
          }),
        ],
        reportBatchItemFailures: true,
        bisectBatchOnError: true,
        retryAttempts: STREAM_RETRIES,
        maxRecordAge: STREAM_RECORD_AGE,
        onFailure: { bind: () => ({ destination: queues.deadStreamRecords.queueArn }) },
      })
    }
  }
}

const streamArn = ({ tableStreamArn }: TableV2): string => {
  if (tableStreamArn === undefined) throw new Error('the table has no stream')
  return tableStreamArn
}
