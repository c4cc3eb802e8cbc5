import { Duration } from 'aws-cdk-lib'
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { EventSourceMapping, FilterCriteria, FilterRule, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import { queuesOf } from '../../../functions/function-spec.ts'
import type { GatewayFunctions } from '../functions/gateway-functions.ts'
import type { DeployedStage } from '../stage.ts'
import type { GatewayQueues } from './gateway-queues.ts'
import { STREAM_SETTINGS } from './stream-settings.ts'

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
        parallelizationFactor: STREAM_SETTINGS.batchesPerShard,
        filters: [
          FilterCriteria.filter({
            eventName: FilterRule.isEqual('INSERT'),
            dynamodb: { Keys: { sk: { S: FilterRule.beginsWith(trigger.insertedSkPrefix) } } },
          }),
        ],
        reportBatchItemFailures: true,
        bisectBatchOnError: true,
        retryAttempts: STREAM_SETTINGS.retries,
        maxRecordAge: Duration.seconds(STREAM_SETTINGS.recordAgeSeconds),
        onFailure: { bind: () => ({ destination: queues.deadStreamRecords.queueArn }) },
      })
    }
  }
}

const streamArn = ({ tableStreamArn }: TableV2): string => {
  if (tableStreamArn === undefined) throw new Error('the table has no stream')
  return tableStreamArn
}
