import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { byQueue } from '../../../shared/queues.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { reservedRuns } from '../functions/reserved-concurrency.ts'
import { tableNameOf } from '../stack-name-of.ts'
import type { DeployedStage } from '../stage.ts'
import { DeadLetterQueue, type GatewayQueues } from '../triggers/gateway-queues.ts'
import { ourMetrics } from './alarms/metric-ref.ts'
import type { Watched } from './alarms/watched.ts'

export type WatchedResources = {
  readonly stage: DeployedStage
  readonly queues: GatewayQueues
  readonly api: HttpApi
}

/**
 * The names that CloudWatch uses for the stack's resources, because alarms are in another stack. Queues and indexes are
 * enumerated, so new ones are watched automatically.
 */
export const watchedStack = ({ stage, queues, api }: WatchedResources): Watched => ({
  stage: stage.settings.name,
  our: ourMetrics(stage.settings.name),
  apiId: api.apiId,
  table: {
    name: tableNameOf(stage),
    indexes: Object.keys(TABLE_SCHEMA.indexes),
    maxReadUnits: stage.table.maxReadUnits,
    maxWriteUnits: stage.table.maxWriteUnits,
  },
  queues: byQueue((name) => queues.byName[name].name),
  deadLetterQueues: deadLetterQueues(queues, stage),
  functions: MANIFEST.map((spec) => ({ spec, functionName: functionName(stage.settings.name, spec) })),
  accountConcurrency: stage.accountConcurrency,
  reservedRuns: reservedRuns(stage, MANIFEST),
})

/** Nothing reads them: their messages were given up. */
const deadLetterQueues = (queues: GatewayQueues, { settings }: DeployedStage): Watched['deadLetterQueues'] =>
  queues.node
    .findAll()
    .filter((construct) => construct instanceof DeadLetterQueue)
    .map(({ name }) => ({ id: name.replace(`gateway-${settings.name}-`, ''), queueName: name }))
