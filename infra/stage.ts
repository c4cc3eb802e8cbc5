import { RemovalPolicy } from 'aws-cdk-lib'
import type { StageSettings } from '../shared/stage-settings.ts'

/** How one deployment differs from another. No account ids or regions: those come from the deployer's credentials. */
export type DeployedStage = {
  /** What the code is told about its stage. */
  readonly settings: StageSettings
  /** What becomes of table, queues and logs when their stack is deleted or replaces them. */
  readonly removalPolicy: RemovalPolicy
  /** The table and the stack refuse to be deleted until someone turns this off on purpose. */
  readonly deletionProtection: boolean
  /** Of each route. Jakarta gives an account 2,500 requests a second over all its APIs, bursts of 1,250. */
  readonly throttle: { readonly requestsPerSecond: number; readonly burst: number }
}

export const DEFAULT_STAGE = 'dev'

/** Names the local gateway keeps for itself. */
const RESERVED_NAMES: readonly string[] = ['local', 'test']

/** Part of every resource's name; the longest function name still fits into Lambda's 64 characters. */
const STAGE_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const STAGE_NAME_LIMIT = 20

const assertStageName = (name: string): void => {
  if (name.length > STAGE_NAME_LIMIT || !STAGE_NAME.test(name)) {
    throw new Error(
      `stage ${JSON.stringify(name)}: a name is at most 20 lower-case letters, digits and single dashes, and starts with a letter`,
    )
  }
  if (RESERVED_NAMES.includes(name)) throw new Error(`stage ${name} is reserved for the local gateway`)
}

const production: Omit<DeployedStage, 'settings'> = {
  removalPolicy: RemovalPolicy.RETAIN,
  deletionProtection: true,
  throttle: { requestsPerSecond: 1_000, burst: 500 },
}

/** `dev` and every stage a developer names: cheap, and gone without a trace when its stack is deleted. */
const disposable: Omit<DeployedStage, 'settings'> = {
  removalPolicy: RemovalPolicy.DESTROY,
  deletionProtection: false,
  throttle: { requestsPerSecond: 50, burst: 100 },
}

/** The stage of that name: `prod`, `dev`, or one's own. Throws on a name that cannot be deployed. */
export const deployedStage = (name: string): DeployedStage => {
  assertStageName(name)
  return {
    ...(name === 'prod' ? production : disposable),
    settings: {
      name,
      allowLoopbackWebhooks: false,
      // Used only for clients registered without a return URL of their own.
      defaultReturnUrl: 'https://example.com/',
      defaultDisplayName: 'Payment',
    },
  }
}

/**
 * Refuses what must never be deployed, whoever built the settings: webhooks to loopback addresses would reach the
 * Lambda runtime's own API. Only the local gateway, which is no stack, allows them.
 */
export const assertDeployable = ({ settings }: DeployedStage): void => {
  assertStageName(settings.name)
  if (settings.allowLoopbackWebhooks) {
    throw new Error(`stage ${settings.name}: webhooks to loopback addresses exist only in the local gateway`)
  }
}
