import { type FunctionSpec, functionName, runsByItself } from '../../functions/function-spec.ts'
import type { DeployedStage } from './stage.ts'

/**
 * The name of a stage's API and workers, and the prefix of all names in the stage: `data`, `operators`, `watch` and
 * `front` are its other stacks.
 */
export const stackNameOf = ({ settings }: Pick<DeployedStage, 'settings'>, part?: string): string =>
  `gateway-${settings.name}${part === undefined ? '' : `-${part}`}`

/** The table's name in a generation: the first has the stage's name, a restored one also its number. */
export const tableNameOf = (
  stage: Pick<DeployedStage, 'settings' | 'table'>,
  generation: number = stage.table.generation,
): string => stackNameOf(stage, generation === 1 ? undefined : String(generation))

/** The function that proves a release. It is the one function of a stage that is not in the manifest. */
export const PROVER = 'prove-release'

/** Requests, queues and schedules invoke it. A release moves it to a new version once that is proven. */
export const LIVE_ALIAS = 'live'

/** Functions of operators have no alias: the function itself is invoked, and the doctor asks whether it works. */
export const hasAlias = (spec: FunctionSpec, { deployment }: DeployedStage): boolean =>
  deployment !== 'all-at-once' && runsByItself(spec)

/** The name by which a function is started in a stage: of its alias, where it has one. */
export const liveName = (spec: FunctionSpec, stage: DeployedStage): string =>
  functionName(stage.settings.name, spec) + (hasAlias(spec, stage) ? `:${LIVE_ALIAS}` : '')
