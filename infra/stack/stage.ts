import { RemovalPolicy } from 'aws-cdk-lib'
import { DAILY_TIMES, type DailyTimes, type Load } from '../../functions/function-spec.ts'
import type { ProviderFees, StageSettings } from '../../shared/stage-settings.ts'
import { PRODUCTION_RUNS } from './production-runs.ts'

/** What a route lets through; API Gateway answers the rest with 429. */
export type Throttle = { readonly requestsPerSecond: number; readonly burst: number }

/** A name of one's own for the API, in a hosted zone of the same account. */
export type StageDomain = {
  readonly name: string
  readonly zone: { readonly name: string; readonly id: string }
}

/** By which API Gateway knows the front before any function runs; how to make one: docs/operations.md, section 2. */
export type OriginCertificate = {
  /** Of the certificate that CloudFront shows, in ACM of us-east-1. */
  readonly id: string
  /** The certificate of the authority that issued it, as PEM: a path in this project. API Gateway believes no other. */
  readonly authority: string
}

/**
 * How one deployment differs from another: everything, and all of it here. No account ids, no regions and no secrets:
 * those come from the deployer's credentials and from Secrets Manager.
 */
export type DeployedStage = DailyTimes & {
  /** What the code is told about its stage. */
  readonly settings: StageSettings
  /** What becomes of the table when its stack is deleted or replaces it; of the rest: `removalPolicyBesidesTable`. */
  readonly removalPolicy: RemovalPolicy
  /** The table and the stack refuse to be deleted until someone turns this off on purpose. */
  readonly deletionProtection: boolean
  /** The least important line that functions write. */
  readonly logLevel: 'DEBUG' | 'INFO' | 'WARN'
  /** Of every route that has none of its own. Jakarta gives an account 2,500 requests a second over all its APIs, bursts of 1,250. */
  readonly throttle: Throttle
  /** By route key, such as `POST /v1/payments`. */
  readonly routeThrottles: Readonly<Record<string, Throttle>>
  /** E-mail addresses that alarms and alerts are sent to; each is asked once to confirm. */
  readonly alarmRecipients: readonly string[]
  /** E-mail or https addresses, such as a pager's, that are told of what wakes somebody; undefined: `alarmRecipients`. */
  readonly pageRecipients: readonly string[] | undefined
  /** Runs at a time that the account may have over all its functions (quota L-B99A9384); the alarm near it counts from here. */
  readonly accountConcurrency: number
  /** Who invokes an operator's function is recorded by CloudTrail, in a bucket that nothing can be deleted from. */
  readonly invocationTrail: boolean
  /** What a payment's webhooks take, by your own figures. The runs of deliver-webhook follow them and the quota. */
  readonly deliveries: Omit<Load, 'callsPerMinute'>
  readonly table: {
    /** `customer`: the stage's KMS key, which can be disabled and whose use is logged. Also for queues, logs, topics and secrets. */
    readonly encryption: 'aws' | 'customer'
    /** Most units a second, against a bill out of control. */
    readonly maxReadUnits: number
    readonly maxWriteUnits: number
    /** Units a second that are there at once, for a launch; undefined for what DynamoDB gives by itself. */
    readonly warm: { readonly readUnits: number; readonly writeUnits: number } | undefined
  }
  /** Undefined: the address API Gateway makes up. Otherwise that address is closed. */
  readonly domain: StageDomain | undefined
  /** `cloudfront`: CloudFront and WAF before the domain, which then answers only to them. */
  readonly front: 'none' | 'cloudfront'
  readonly frontSettings: {
    /** The part of what a route takes that one address gets of it, beyond which it is refused: infra/stack/edge/rate-rules.ts. */
    readonly addressShare: number
    /** IPv4 ranges (`203.0.113.7/32`) that merchants have told us of: the share of one address is not theirs. */
    readonly merchantAddresses: readonly string[]
    /** Raise by one after putting a new origin secret: CloudFormation reads it again only where something changed. */
    readonly originSecretRotation: number
    /** Undefined: the API takes connections from anyone, and its functions refuse what does not carry the origin secret. */
    readonly originCertificate: OriginCertificate | undefined
  }
  /** `nat`: webhooks leave from fixed addresses that merchants can allow, and private networks are out of reach. */
  readonly webhookEgress: 'public' | 'nat'
  /**
   * `canary`: a tenth of the requests meets a new version first, and alarms take it back. `alias-only`: the same wiring,
   * moved at once and whatever the alarms say: to bring out the fix for a fire in a stage that has canaries.
   */
  readonly deployment: 'all-at-once' | 'canary' | 'alias-only'
  /**
   * Runs at a time that are set aside for functions, and at which they end: what a flood at one of them cannot take from
   * the others. Reserving counts against the account's limit, of which Lambda keeps 100 unreserved; undefined where the
   * account has few. By function name; a function that must not overlap (manifest) then has its one without being named.
   */
  readonly reservedConcurrency: Readonly<Record<string, number>> | undefined
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

type Options = Omit<DeployedStage, 'settings'> & {
  readonly payer: { readonly returnUrl: string; readonly name: string }
  /** By the contract with the provider (docs/operations.md, section 3). Undefined: deducted from each payment. */
  readonly providerFees?: ProviderFees
  /**
   * Of a client for which operators have set no limit of its own: points a second (design section 9), and creates a
   * second. At most a quarter of what the stage carries: infra/stack/capacity/assert-client-limits.ts.
   */
  readonly clientRateLimit: number
  readonly clientCreateLimit: number
  /** What the provider granted beyond what it publishes (docs/operations.md, section 3). Undefined: what it publishes. */
  readonly providerCallsPerMinute?: number
  /** After so many days an API key ends that was issued without an expiry. Undefined: never. */
  readonly keyLifetimeDays?: number
}

/** `dev` and every stage a developer names: cheap, and gone without a trace when its stack is deleted. */
const disposable: Options = {
  ...DAILY_TIMES,
  payer: { returnUrl: PLACEHOLDER_RETURN_URL, name: 'Payment' },
  clientRateLimit: 4,
  clientCreateLimit: 2,
  removalPolicy: RemovalPolicy.DESTROY,
  deletionProtection: false,
  logLevel: 'INFO',
  throttle: { requestsPerSecond: 50, burst: 100 },
  // Half of the payments that the table below carries: infra/stack/capacity/assert-carried.ts.
  routeThrottles: { 'POST /v1/payments': { requestsPerSecond: 22, burst: 44 } },
  alarmRecipients: [],
  pageRecipients: undefined,
  accountConcurrency: 1_000,
  deliveries: { endpointsAPayment: 1, attemptMs: 300 },
  invocationTrail: false,
  table: { encryption: 'aws', maxReadUnits: 1_000, maxWriteUnits: 1_000, warm: undefined },
  domain: undefined,
  front: 'none',
  webhookEgress: 'public',
  frontSettings: { addressShare: 0.1, merchantAddresses: [], originSecretRotation: 1, originCertificate: undefined },
  deployment: 'all-at-once',
  // A new account may run 10 functions at a time and must keep all of them unreserved.
  reservedConcurrency: undefined,
}

const production: Options = {
  ...disposable,
  clientRateLimit: 16,
  keyLifetimeDays: 400,
  invocationTrail: true,
  removalPolicy: RemovalPolicy.RETAIN,
  deletionProtection: true,
  throttle: { requestsPerSecond: 500, burst: 250 },
  routeThrottles: {
    // Money first: reading lists must never use up what creating and being paid need.
    // Half of what a fresh table carries: beyond them a 429 is a better answer than a 500. Raise it with `table.warm`.
    'POST /v1/payments': { requestsPerSecond: 88, burst: 176 },
    'POST /callbacks/xendit': { requestsPerSecond: 1_000, burst: 500 },
    $default: { requestsPerSecond: 300, burst: 100 },
  },
  table: { encryption: 'customer', maxReadUnits: 20_000, maxWriteUnits: 20_000, warm: undefined },
  domain: PLACEHOLDER_DOMAIN,
  front: 'cloudfront',
  frontSettings: {
    ...disposable.frontSettings,
    originCertificate: { id: PLACEHOLDER_CERTIFICATE, authority: 'infra/stack/edge/origin-authority.pem' },
  },
  deployment: 'canary',
  reservedConcurrency: PRODUCTION_RUNS,
}

/** Stages with settings of their own. Whatever is not named here is disposable. */
const STAGES: Readonly<Record<string, Options>> = { dev: disposable, prod: production }

/** The stage of that name: `prod`, `dev`, or one's own. Throws on a name that cannot be deployed. */
export const deployedStage = (name: string): DeployedStage => {
  assertStageName(name)
  const {
    payer,
    providerFees = 'deducted',
    clientRateLimit,
    clientCreateLimit,
    providerCallsPerMinute,
    keyLifetimeDays,
    ...stage
  } = STAGES[name] ?? disposable
  return {
    ...stage,
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
 * it must not be lost or when it names somebody who wants to hear them. A developer's own stage is neither. The dashboard
 * is everybody's.
 */
export const hasAlarms = ({
  deletionProtection,
  alarmRecipients,
  pageRecipients = [],
}: Pick<DeployedStage, 'deletionProtection' | 'alarmRecipients' | 'pageRecipients'>): boolean =>
  deletionProtection || alarmRecipients.length + pageRecipients.length > 0
