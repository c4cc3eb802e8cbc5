import { type FunctionSpec, functionName, runsByItself } from '../../../functions/function-spec.ts'
import type { DeployedStage } from '../stage.ts'

/** Requests, queues and schedules invoke it. A release moves it to a new version once that is proven. */
export const LIVE_ALIAS = 'live'

/** Functions of operators have no alias: the function itself is invoked, and the doctor asks whether it works. */
export const hasAlias = (spec: FunctionSpec, { deployment }: DeployedStage): boolean =>
  deployment !== 'all-at-once' && runsByItself(spec)

/** The name by which a function is started in a stage: of its alias, where it has one. */
export const liveName = (spec: FunctionSpec, stage: DeployedStage): string =>
  functionName(stage.settings.name, spec) + (hasAlias(spec, stage) ? `:${LIVE_ALIAS}` : '')
