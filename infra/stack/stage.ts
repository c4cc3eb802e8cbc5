import { RemovalPolicy } from 'aws-cdk-lib'
import { type FunctionSpec, type Load, runsByItself } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { callsPerMinute } from '../../shared/provider/quota-store.ts'
import type { StageSettings } from '../../shared/stage-settings.ts'
import { readStageFile, type StageDomain } from './stage-file.ts'

export const DEFAULT_STAGE = 'dev'

/** Names that only the local gateway uses. */
const RESERVED_NAMES: readonly string[] = ['local', 'test']

/** For `prod`, `npm run deploy` requires a real URL. */
export const PLACEHOLDER_RETURN_URL = 'https://example.com/'

/** `prod` can be synthesised with these placeholders. `npm run deploy` requires real values. */
export const PLACEHOLDER_DOMAIN: StageDomain = {
  name: 'pay.example.com',
  zone: { name: 'example.com', id: 'Z00000000000000000000' },
}
export const PLACEHOLDER_ACCOUNT = '123456789012'
export const PLACEHOLDER_CERTIFICATE = '00000000-0000-0000-0000-000000000000'

/**
 * `prod`, `dev`, or a developer's own, which without a file in infra/stages has the settings of
 * `dev`. Throws for an invalid name or file.
 */
export function deployedStage(name: string) {
  assertStageName(name)
  const {
    payer,
    providerFees,
    clientRateLimit,
    clientCreateLimit,
    pushLimit,
    providerCallsPerMinute,
    keyLifetimeDays,
    ...file
  } = readStageFile(name)
  const settings: StageSettings = {
    name,
    allowLoopbackWebhooks: false,
    defaultReturnUrl: payer.returnUrl,
    defaultDisplayName: payer.name,
    providerFees,
    clientRateLimit,
    clientCreateLimit,
    pushLimit,
    providerCallsPerMinute,
    keyLifetimeDays,
  }
  return { ...file, settings }
}

/**
 * Part of every resource's name: with 20 characters all function names fit into Lambda's 64. A dash
 * follows, so no name or wildcard of a stage fits another stage's resources.
 */
const STAGE_NAME = /^[a-z][a-z0-9]{0,19}$/

function assertStageName(name: string) {
  if (!STAGE_NAME.test(name)) {
    throw new Error(
      `stage ${JSON.stringify(name)}: a name is at most 20 lower-case letters and digits, and starts with a letter`,
    )
  }
  if (RESERVED_NAMES.includes(name))
    throw new Error(`stage ${name} is reserved for the local gateway`)
}

/** The stage's file (infra/stack/stage-file.ts). Functions' code reads `settings`. */
export type DeployedStage = Readonly<ReturnType<typeof deployedStage>>

/**
 * The removal policy of retained resources other than the table and its key: queues, logs, secrets,
 * addresses. A failed creation deletes these resources. Otherwise their names would block the next
 * creation, because a stack cannot adopt a queue or a secret. A failed creation keeps the table: a
 * stack can adopt it, and its deletion protection stops a rollback.
 */
export function removalPolicyBesidesTable({ removalPolicy }: DeployedStage): RemovalPolicy {
  return removalPolicy === RemovalPolicy.RETAIN
    ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
    : removalPolicy
}

/**
 * Alarms are the largest cost of an idle stage (docs/operations.md, section 9) and page people. So
 * a stage has them if it has deletion protection or names recipients, unlike a developer's own.
 * Every stage has the dashboard.
 */
export function hasAlarms({
  deletionProtection,
  alarmRecipients,
  pageRecipients = [],
}: DeployedStage) {
  return deletionProtection || alarmRecipients.length + pageRecipients.length > 0
}

export function loadOf({ settings, deliveries }: DeployedStage): Load {
  return { callsPerMinute: callsPerMinute(settings), ...deliveries }
}

/**
 * The stack of the API and workers, and the prefix of all names in the stage: its other stacks are
 * `data`, `operators`, `watch`, `copies`, `front`.
 */
export function stackNameOf({ settings }: DeployedStage, part?: string) {
  return `gateway-${settings.name}${part === undefined ? '' : `-${part}`}`
}

export function scheduleNames(stage: DeployedStage) {
  return MANIFEST.flatMap(({ name, trigger }) =>
    trigger.kind === 'schedule' ? stackNameOf(stage, name) : [],
  )
}

/** A restored generation has its number in its name. */
export function tableNameOf(stage: DeployedStage, generation: number = stage.table.generation) {
  return stackNameOf(stage, generation === 1 ? undefined : String(generation))
}

/** CloudFormation replaces a vault that gets another key, and cannot do so under the same name. */
export function backupVaultName(stage: DeployedStage) {
  return stackNameOf(stage, stage.copies?.account ? 'shared' : stage.table.encryption)
}

/** The region of CloudFront, its certificate and its firewall, for a gateway in any region. */
export const FRONT_REGION = 'us-east-1'

/** The secret with the canary merchant’s key, in that region: docs/operations.md, section 5. */
export function canaryKeySecretName(stage: string) {
  return `gateway/${stage}/canary-key`
}

export function protectionRuleName(stage: DeployedStage) {
  return stackNameOf(stage, 'protection')
}

/** The only function of a stage that is not in the manifest. */
export const PROVER = 'prove-release'

/** Operators' functions have no alias. */
export function hasAlias(spec: FunctionSpec, { deployment }: DeployedStage) {
  return deployment !== 'all-at-once' && runsByItself(spec)
}

/** Requests, queues and schedules invoke this alias, which a release moves after its proof. */
export const LIVE_ALIAS = 'live'

/** The unpublished version of a function, by which the prover invokes it. */
export function unpublished(functionNameOrArn: string) {
  return `${functionNameOrArn}:$LATEST`
}

/** The name to invoke a function by: with its alias, if it has one. */
export function liveName(spec: FunctionSpec, stage: DeployedStage) {
  return stackNameOf(stage, spec.name) + (hasAlias(spec, stage) ? `:${LIVE_ALIAS}` : '')
}
