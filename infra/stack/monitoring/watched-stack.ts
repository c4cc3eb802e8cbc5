import { type FunctionSpec, routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { byQueue, QUEUE_NAMES } from '../../../shared/queues.ts'
import { TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import { reservedRuns } from '../settings/reserved-concurrency.ts'
import { CREATE_ROUTE } from '../settings/route-settings.ts'
import {
  type DeployedStage,
  protectionRuleName,
  scheduleNames,
  stackNameOf,
  tableNameOf,
} from '../stage.ts'
import { ourMetrics } from './alarms/metric-ref.ts'

/**
 * Names, because alarms are in another stack. Queues and indexes are enumerated, so new ones are
 * watched.
 */
export function watchedStack(stage: DeployedStage, apiId: string, certificateArn?: string) {
  return {
    stage: stage.settings.name,
    our: ourMetrics(stage.settings.name),
    apiId,
    certificateArn,
    table: {
      name: tableNameOf(stage),
      indexes: Object.keys(TABLE_SCHEMA.indexes),
      maxReadUnits: stage.table.maxReadUnits,
      maxWriteUnits: stage.table.maxWriteUnits,
    },
    queues: byQueue((name) => stackNameOf(stage, name)),
    // `id`: the name without the stage.
    deadLetterQueues: [...QUEUE_NAMES, 'schedules' as const].map((name) => {
      const id = `${name}-dead`
      return { id, name, queueName: stackNameOf(stage, id) }
    }),
    schedules: scheduleNames(stage),
    functions: MANIFEST.map((spec) => ({ spec, functionName: stackNameOf(stage, spec.name) })),
    protectionRule: protectionRuleName(stage),
    /** Where the copies go: AWS Backup counts a copy by its destination. */
    backupVault: stage.copies && stackNameOf(stage, 'copies'),
    // Concurrent runs of the account, and the runs of these that the stage reserves for single
    // functions.
    accountConcurrency: stage.accountConcurrency,
    reservedRuns: reservedRuns(stage),
  }
}

export type Watched = ReturnType<typeof watchedStack>

export function createFunctionName(watched: Watched) {
  return functionNameOf(watched, (spec) => routeKeyOf(spec) === CREATE_ROUTE)
}

export function functionNameOf({ functions }: Watched, has: (spec: FunctionSpec) => boolean) {
  const [match, ...others] = functions.filter(({ spec }) => has(spec))
  if (match === undefined || others.length > 0)
    throw new Error('an alarm must watch exactly one function')
  return match.functionName
}
