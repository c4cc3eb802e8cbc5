import { type FunctionSpec, functionName, runsByItself } from '../../functions/function-spec.ts'
import type { DeployedStage } from './stage.ts'

/**
 * The stack of the API and workers, and the prefix of all names in the stage: its other stacks are
 * `data`, `operators`, `watch` and `front`.
 */
export function stackNameOf({ settings }: Pick<DeployedStage, 'settings'>, part?: string): string {
  return `gateway-${settings.name}${part === undefined ? '' : `-${part}`}`
}

/** A restored generation has its number in its name. */
export function tableNameOf(
  stage: Pick<DeployedStage, 'settings' | 'table'>,
  generation: number = stage.table.generation,
): string {
  return stackNameOf(stage, generation === 1 ? undefined : String(generation))
}

/**
 * Of the vault whose backups are copied. CloudFormation replaces a vault that gets another key, and
 * cannot do so under the same name.
 */
export function backupVaultName(stage: DeployedStage): string {
  return stackNameOf(stage, stage.copies?.account ? 'shared' : stage.table.encryption)
}

/** The region of CloudFront, its certificate and its firewall, for a gateway in any region. */
export const FRONT_REGION = 'us-east-1'

/** The secret with the canary merchant’s key, in that region: docs/operations.md, section 5. */
export function canaryKeySecretName(stage: string): string {
  return `gateway/${stage}/canary-key`
}

export function protectionRuleName(stage: Pick<DeployedStage, 'settings'>): string {
  return stackNameOf(stage, 'protection')
}

/** The only function of a stage that is not in the manifest. */
export const PROVER = 'prove-release'

/** Operators' functions have none. */
export function hasAlias(spec: FunctionSpec, { deployment }: DeployedStage): boolean {
  return deployment !== 'all-at-once' && runsByItself(spec)
}

/** Requests, queues and schedules invoke this alias, which a release moves after its proof. */
export const LIVE_ALIAS = 'live'

/** The unpublished version of a function, by which the prover invokes it. */
export function unpublished(functionNameOrArn: string): string {
  return `${functionNameOrArn}:$LATEST`
}

/** The name to invoke a function by: with its alias, if it has one. */
export function liveName(spec: FunctionSpec, stage: DeployedStage): string {
  return functionName(stage.settings.name, spec) + (hasAlias(spec, stage) ? `:${LIVE_ALIAS}` : '')
}
