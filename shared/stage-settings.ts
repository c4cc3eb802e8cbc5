import * as v from 'valibot'

/** `invoiced`: monthly, so rows show no fee and the tariff's fee is actual. */
export const PROVIDER_FEES = ['deducted', 'invoiced'] as const

export const HISTORY_STEPS = {
  /** Parsed rows of a page; DynamoDB itself ends a page at 1 MB. */
  rows: 2_000,
  /** Pages of a run. Only time ends a run. */
  pages: Number.POSITIVE_INFINITY,
  /** Entries in one block of a digest. This number must never change. */
  block: 1_000,
  /** A settlement with more entries is judged by audits alone, not again by its payout. */
  atOnce: 20_000,
}
export type HistorySteps = Readonly<typeof HISTORY_STEPS>

const WholeNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const Count = v.optional(WholeNumber)
const PushLimit = v.strictObject({ pushes: WholeNumber, minutes: WholeNumber })
const Flag = v.optional(v.boolean())

/** A function gets JSON, without the settings that it does not use. */
export const DeployedSettings = v.strictObject({
  /** Every route answers 500, because the stage's table is being restored. */
  isClosed: Flag,
  /** The network of webhooks allows only port 443, so endpoints with another port are refused. */
  httpsPortOnly: Flag,
  defaultReturnUrl: v.optional(v.pipe(v.string(), v.url()), 'https://example.com/'),
  /** The display name of virtual accounts for clients whose name banks do not accept. */
  defaultDisplayName: v.optional(v.pipe(v.string(), v.minLength(1)), 'Payment'),
  /** Only requests through the front are answered. They carry the front's origin secret. */
  behindFront: Flag,
  /** The API has its own domain, so answers tell browsers to use only HTTPS. */
  hasDomain: Flag,
  /** Points a second of a client without its own limit (design section 9); undefined: no limit. */
  clientRateLimit: Count,
  /** The separate limit of creates; undefined: creates share the limit of all requests. */
  clientCreateLimit: Count,
  /** The pushes to one phone of a client (design section 4, Create); undefined: no limit. */
  pushLimit: v.optional(PushLimit),
  /** The maximum number of environments that serve a client's requests; one by default. */
  environments: Count,
  /** `deducted` by default. */
  providerFees: v.optional(v.picklist(PROVIDER_FEES)),
  /** Calls a minute that the provider allows for each operation; default: its published limit. */
  providerCallsPerMinute: Count,
  /** The lifetime of API keys issued without an expiry; undefined: unlimited. */
  keyLifetimeDays: Count,
})

/** Set by the stack, or by the local gateway for stage `local`. */
export type StageSettings = v.InferOutput<typeof DeployedSettings> & {
  /** Part of every resource's name and API key. Lower-case letters, digits and dashes. */
  readonly name: string
  /** Stage local only: webhooks may go to loopback addresses, over http and on any port. */
  readonly allowLoopbackWebhooks: boolean
  readonly historySteps?: HistorySteps
  /**
   * The longest lag of an index whose writes are throttled, 100 s by default. What an index lacks
   * after this time is missing.
   */
  readonly indexLagMs?: number
}
