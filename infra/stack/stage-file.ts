import { existsSync, readFileSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { RemovalPolicy } from 'aws-cdk-lib'
import * as v from 'valibot'
import { DAILY_TIMES } from '../../functions/daily-times.ts'
import { PAYER_NAME } from '../../shared/channel/channel-facts.ts'
import { ReturnUrl } from '../../shared/client/client-fields.ts'
import { PROVIDER_FEES } from '../../shared/stage-settings.ts'
import { MAX_ENDPOINTS } from '../../shared/webhook/endpoint/endpoint-store.ts'
import { PROJECT_ROOT } from './project-root.ts'

/** The timeout of an attempt: shared/webhook/send/https-webhook-sender.ts. */
const MAX_ATTEMPT_MS = 10_000
/** Five addresses together fill a route. */
const MAX_ADDRESS_SHARE = 0.2

const Rate = rateFrom(1)
const Text = v.pipe(v.string(), v.minLength(1, 'not empty'))
const Email = v.pipe(v.string(), v.email('an e-mail address'))
const Account = textLike(/^\d{12}$/, 'twelve digits')
const Region = textLike(/^[a-z]+(-[a-z]+)+-\d$/, 'a region such as ap-southeast-3')
const Host = textLike(/^([a-z\d-]+\.)+[a-z\d-]+$/, 'a name such as pay.example.com')
const Pager = v.pipe(v.string(), v.startsWith('https://'))

/**
 * The certificate by which API Gateway recognises the front. docs/operations.md, section 2, says
 * how to make it.
 */
const OriginCertificateSchema = v.strictObject({
  /** The id of the certificate that CloudFront shows, in ACM of us-east-1. */
  id: Text,
  /**
   * A path in this project: the certificate (PEM) of the authority that issued it, the only one
   * that API Gateway trusts.
   */
  authority: Text,
})

const FrontSettings = v.strictObject({
  /**
   * The share of a route's throttle for one address. The front refuses more requests:
   * infra/stack/edge/rate-rules.ts.
   */
  addressShare: numberAboveZero(MAX_ADDRESS_SHARE),
  /** IPv4 ranges of merchants, to which the limit of one address does not apply. */
  merchantAddresses: v.array(
    v.pipe(
      v.string(),
      v.check(isRange, 'an IPv4 range such as 203.0.113.0/24 or 203.0.113.7/32, none wider'),
    ),
  ),
  /** Raise by one after you put a new origin secret: only then CloudFormation reads it again. */
  originSecretRotation: Rate,
  /**
   * Left out: anyone can connect to the API, and its functions refuse requests without the origin
   * secret.
   */
  originCertificate: v.optional(OriginCertificateSchema),
})

const TableSettings = v.strictObject({
  /**
   * The table that functions use. A restore makes the next generation (docs/operations.md, section
   * 7).
   */
  generation: Rate,
  /** The generation that the stack made or adopted. The stack changes no other table. */
  adopted: Rate,
  /**
   * `customer`: the stage's KMS key encrypts table, queues, logs, alerts and secrets. It can be
   * disabled; its use is logged.
   */
  encryption: v.picklist(['aws', 'customer']),
  /** Units a second at most, which limits the bill. */
  maxReadUnits: Rate,
  maxWriteUnits: Rate,
  /** Units a second that the table carries at once, for a launch. Left out: the least. */
  warm: v.optional(v.strictObject({ readUnits: rateFrom(12_000), writeUnits: rateFrom(4_000) })),
})

const TimeOfDay = v.strictObject({ hour: wholeBetween(0, 23), minute: wholeBetween(0, 59) })

/** API Gateway answers further requests with 429. */
const ThrottleSchema = v.strictObject({
  requestsPerSecond: numberAboveZero(1_000_000),
  burst: Rate,
})

/** The API's own domain name, in a hosted zone of the same account. */
const DomainSchema = v.strictObject({ name: Host, zone: v.strictObject({ name: Host, id: Text }) })

/** All settings of a stage. Secrets are in Secrets Manager. */
export const StageFileSchema = v.strictObject({
  /**
   * A deployment with other credentials, or to another region, is refused. Left out: wherever the
   * credentials lead.
   */
  location: v.optional(v.strictObject({ account: Account, region: Region })),
  /**
   * `closed`: every route answers 500, no queue or schedule starts anything, operators' functions
   * run.
   */
  role: v.picklist(['open', 'closed']),
  /** Left out: the times of the local gateway. */
  sweepAtUtc: v.optional(TimeOfDay, DAILY_TIMES.sweepAtUtc),
  auditAtUtc: v.optional(TimeOfDay, DAILY_TIMES.auditAtUtc),
  /**
   * The return URL of clients without their own, and the name for payers of clients whose own name
   * no bank shows.
   */
  payer: v.strictObject({
    returnUrl: ReturnUrl,
    name: textLike(PAYER_NAME, '3 to 50 letters and spaces'),
  }),
  /** How the provider charges fees by the contract (docs/operations.md, section 3). */
  providerFees: v.picklist(PROVIDER_FEES),
  /**
   * The quota that the provider granted, if other than the published quota (docs/operations.md,
   * section 3).
   */
  providerCallsPerMinute: v.optional(Rate),
  /**
   * The limits of a client without its own limits: points a second (design section 9), and creates
   * a second. A quarter of what the stage carries, so that four clients may flood at once.
   */
  clientRateLimit: Rate,
  clientCreateLimit: Rate,
  /**
   * The pushes that one client may send to one phone in so many minutes. Without this limit a
   * stranger's phone rings for as long as a merchant's key is misused.
   */
  pushLimit: v.strictObject({ pushes: wholeBetween(1, 100), minutes: wholeBetween(1, 1_440) }),
  /** Days after which an API key without an expiry expires. Left out: never. */
  keyLifetimeDays: v.optional(Rate),
  /** Whether the table survives its stack. For other resources see `removalPolicyBesidesTable`. */
  removalPolicy: v.picklist([RemovalPolicy.RETAIN, RemovalPolicy.DESTROY]),
  /** AWS then refuses to delete table and stack. */
  deletionProtection: v.boolean(),
  /**
   * The throttle of other routes. Jakarta gives an account 2,500 requests a second over all APIs,
   * bursts of 1,250.
   */
  throttle: ThrottleSchema,
  /**
   * Throttles by route key, such as `POST /v1/payments`. Creates get half of the payments that the
   * table carries (docs/performance.md, Walls): above that figure a 429 is a better answer than a
   * 500. Lists must never use up the capacity of creates and callbacks.
   */
  routeThrottles: v.record(v.string(), ThrottleSchema),
  /** AWS asks each recipient once to confirm. */
  alarmRecipients: v.array(Email),
  /** Left out: `alarmRecipients`. */
  pageRecipients: v.optional(v.array(v.union([Email, Pager], 'an e-mail address, or https://'))),
  /**
   * The monthly budget of the account in dollars, mailed to `alarmRecipients`. Left out: no budget.
   * Needs a front.
   */
  monthlyBudgetUsd: v.optional(numberAboveZero(1_000_000)),
  /**
   * Concurrent runs of all the account's functions (quota L-B99A9384). The alarm near the limit
   * uses this number.
   */
  accountConcurrency: Rate,
  /** CloudTrail records who invokes an operator's function, and keeps it for 400 days. */
  invocationTrail: v.boolean(),
  /**
   * The load of a payment's webhooks, by your own figures. With the quota it sets the runs of
   * deliver-webhook.
   */
  deliveries: v.strictObject({
    endpointsAPayment: numberAboveZero(MAX_ENDPOINTS),
    attemptMs: numberAboveZero(MAX_ATTEMPT_MS),
  }),
  table: TableSettings,
  /**
   * A locked vault in another region for daily backups. `account`: if other than the stage's own,
   * which is `source`.
   */
  copies: v.optional(
    v.strictObject({
      region: Region,
      account: v.optional(v.strictObject({ id: Account, source: Account })),
    }),
  ),
  /** Left out: API Gateway generates an address. With a domain the generated address is closed. */
  domain: v.optional(DomainSchema),
  /** `cloudfront`: CloudFront and WAF before the API, which then answers no other requests. */
  front: v.picklist(['none', 'cloudfront']),
  frontSettings: FrontSettings,
  /** `nat`: webhooks leave from fixed addresses, and private networks are out of reach. */
  webhookEgress: v.picklist(['public', 'nat']),
  /**
   * `canary`: a new version first gets a tenth of the requests, and alarms roll it back.
   * `alias-only`: all requests move at once, whatever the alarms say, to deploy a fix during an
   * incident in a stage with canaries.
   */
  deployment: v.picklist(['all-at-once', 'canary', 'alias-only']),
  /**
   * Concurrent runs by function name, which are also its maximum: a flood takes no runs from other
   * functions. Lambda keeps 100 of the account's runs unreserved. Left out if the account has few.
   * A function that must not overlap (manifest) has its one run without an entry.
   */
  reservedConcurrency: v.optional(v.record(v.string(), Rate)),
})

export type StageFile = v.InferOutput<typeof StageFileSchema>
export type StageDomain = v.InferOutput<typeof DomainSchema>
export type OriginCertificate = v.InferOutput<typeof OriginCertificateSchema>

/** Throws an error that names each missing, unknown or invalid setting. */
export function parseStageFile(file: string, text: string) {
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch (error) {
    throw new Error(`${file} is not JSON`, { cause: error })
  }
  const parsed = v.safeParse(StageFileSchema, settings)
  if (parsed.success) return parsed.output
  const problems = parsed.issues.map((issue) => {
    const name = v.getDotPath(issue) ?? 'the file'
    return issue.expected === 'never' ? `${name} is no setting` : `${name}: ${issue.message}`
  })
  throw new Error(`${file}: ${problems.join('; ')}`)
}

const FOLDER = 'infra/stages'
/** Cheap, and no resource outlives the stack. */
const DISPOSABLE = 'dev'

/** From the stage's own file, or from that of `dev`. */
export function readStageFile(stage: string) {
  const ownFile = `${FOLDER}/${stage}.json`
  const file = existsSync(join(PROJECT_ROOT, ownFile)) ? ownFile : `${FOLDER}/${DISPOSABLE}.json`
  return parseStageFile(file, readFileSync(join(PROJECT_ROOT, file), 'utf8'))
}

function textLike(pattern: RegExp, message: string) {
  return v.pipe(v.string(), v.regex(pattern, message))
}

function numberAboveZero(most: number) {
  return v.pipe(v.number(), v.gtValue(0, 'above 0'), v.maxValue(most, `at most ${most}`))
}

function rateFrom(least: number) {
  return wholeBetween(least, 1_000_000)
}

function wholeBetween(least: number, most: number) {
  return v.pipe(
    v.number(),
    v.minValue(least, `at least ${least}`),
    v.maxValue(most, `at most ${most}`),
    v.integer('a whole number'),
  )
}

/** A wider range belongs to many users. AWS takes a range only by its first address. */
function isRange(text: string) {
  const [, address = '', last, bits] = /^([\d.]+\.(\d+))\/(2[4-9]|3[0-2])$/.exec(text) ?? []
  return isIPv4(address) && Number(last) % 2 ** (32 - Number(bits)) === 0
}
