import { RemovalPolicy } from 'aws-cdk-lib'
import type { Load } from '../../functions/function-spec.ts'
import { callsPerMinute } from '../../shared/provider/quota-store.ts'
import type { StageSettings } from '../../shared/stage-settings.ts'
import { readStageFile, type StageDomain, type StageFile } from './stage-file.ts'

/** Settings that the functions' code reads too, under other names. */
type SettingsOfCode =
  | 'payer'
  | 'providerFees'
  | 'clientRateLimit'
  | 'clientCreateLimit'
  | 'providerCallsPerMinute'
  | 'keyLifetimeDays'

/** A stage by its file (infra/stack/stage-file.ts) and its name. */
export type DeployedStage = Omit<StageFile, SettingsOfCode | 'removalPolicy'> & {
  /** The settings that the functions' code reads. */
  readonly settings: StageSettings
  readonly removalPolicy: RemovalPolicy
}

export const DEFAULT_STAGE = 'dev'

/** Names the local gateway keeps for itself. */
const RESERVED_NAMES: readonly string[] = ['local', 'test']

/** Part of every resource's name; the longest function name still fits into Lambda's 64 characters. */
const STAGE_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const STAGE_NAME_LIMIT = 20

export const assertStageName = (name: string): void => {
  if (name.length > STAGE_NAME_LIMIT || !STAGE_NAME.test(name)) {
    throw new Error(
      `stage ${JSON.stringify(name)}: a name is at most 20 lower-case letters, digits and single dashes, and starts with a letter`,
    )
  }
  if (RESERVED_NAMES.includes(name)) throw new Error(`stage ${name} is reserved for the local gateway`)
}

/** Used only for clients registered without a return URL of their own: `prod` needs a real one (`npm run deploy` asks). */
export const PLACEHOLDER_RETURN_URL = 'https://example.com/'

/** So that `prod` can be synthesised: `npm run deploy` asks for real ones. */
export const PLACEHOLDER_DOMAIN: StageDomain = {
  name: 'pay.example.com',
  zone: { name: 'example.com', id: 'Z00000000000000000000' },
}
export const PLACEHOLDER_CERTIFICATE = '00000000-0000-0000-0000-000000000000'

const REMOVAL_POLICIES = { retain: RemovalPolicy.RETAIN, destroy: RemovalPolicy.DESTROY } as const

/**
 * The stage of that name: `prod`, `dev`, or one's own, which is as `dev` unless infra/stages has a file of it. Throws on a
 * name that cannot be deployed, and on a file that says something else than settings.
 */
export const deployedStage = (name: string): DeployedStage => {
  assertStageName(name)
  const { payer, providerFees, clientRateLimit, clientCreateLimit, providerCallsPerMinute, keyLifetimeDays, ...file } =
    readStageFile(name)
  return {
    ...file,
    removalPolicy: REMOVAL_POLICIES[file.removalPolicy],
    settings: {
      name,
      allowLoopbackWebhooks: false,
      defaultReturnUrl: payer.returnUrl,
      defaultDisplayName: payer.name,
      providerFees,
      clientRateLimit,
      clientCreateLimit,
      ...(providerCallsPerMinute !== undefined && { providerCallsPerMinute }),
      ...(keyLifetimeDays !== undefined && { keyLifetimeDays }),
    },
  }
}

/**
 * Of what is kept beside the table and its key: queues, logs, secret, addresses. A creation that fails takes them back, as their
 * names would stop the next one and no stack can take over a queue or a secret. The table can be taken over, and its
 * protection would stop a rollback that deletes it.
 */
export const removalPolicyBesidesTable = ({ removalPolicy }: Pick<DeployedStage, 'removalPolicy'>): RemovalPolicy =>
  removalPolicy === RemovalPolicy.RETAIN ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : removalPolicy

/**
 * Alarms are the dearest part of an idle stage (docs/operations.md, section 9) and wake people, so a stage has them when
 * it must not be lost or when it names recipients. A developer's own stage is neither. The dashboard
 * is everybody's.
 */
export const hasAlarms = ({
  deletionProtection,
  alarmRecipients,
  pageRecipients = [],
}: Pick<DeployedStage, 'deletionProtection' | 'alarmRecipients' | 'pageRecipients'>): boolean =>
  deletionProtection || alarmRecipients.length + pageRecipients.length > 0

/** The load that a stage must carry, by its settings. */
export const loadOf = ({ settings, deliveries }: Pick<DeployedStage, 'settings' | 'deliveries'>): Load => ({
  callsPerMinute: callsPerMinute(settings),
  ...deliveries,
})
