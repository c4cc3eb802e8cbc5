/**
 * How the provider takes its fees, by our contract with it. `deducted`: from each payment when it settles. `invoiced`:
 * billed after the month, so that its transactions show none and the tariff's fee is the actual one.
 */
export const PROVIDER_FEES = ['deducted', 'invoiced'] as const
export type ProviderFees = (typeof PROVIDER_FEES)[number]

/**
 * Rows of one page, and pages of one run: the next run goes on after them. `block`: entries of one block of a
 * settlement's digest; a stage never changes it.
 */
export type HistorySteps = { readonly rows: number; readonly pages: number; readonly block: number }

/** DynamoDB ends a page at 1 MB by itself; this keeps a page's parsed rows small. Time ends a run, no number of pages. */
export const HISTORY_STEPS: HistorySteps = { rows: 2_000, pages: Number.POSITIVE_INFINITY, block: 1_000 }

/** What differs between stages and the code must know. Set by the stack, or by the local gateway for stage `local`. */
export type StageSettings = {
  /** Part of every resource's name and of every API key. Lower-case letters, digits and dashes. */
  readonly name: string
  /** Every route answers 500: the stage's table is being restored. Off by default. */
  readonly isClosed?: boolean
  /** Stage local only: webhooks may go to loopback addresses, over http and on any port. */
  readonly allowLoopbackWebhooks: boolean
  /** Webhooks leave by a network that opens no port but 443: endpoints with another are refused. Off by default. */
  readonly httpsPortOnly?: boolean
  /** Where a wallet sends the customer back when the client's registration names no return URL. */
  readonly defaultReturnUrl: string
  /** Name shown to the payer of a virtual account when the client has none that a bank accepts. */
  readonly defaultDisplayName: string
  /** HTTP is answered only when it came through the front, which shows by the origin secret it adds. Off by default. */
  readonly behindFront?: boolean
  /** The API has a name of its own, which browsers may be told to ask over HTTPS alone. Off by default. */
  readonly hasDomain?: boolean
  /** Points a second of a client without a limit of its own (design section 9); undefined: as many as it likes. */
  readonly clientRateLimit?: number
  /** Of its creates alone; undefined: they count with all else. */
  readonly clientCreateLimit?: number
  /** Over how many environments a client's requests are spread at most: one by default. */
  readonly environments?: number
  /** `deducted` by default. */
  readonly providerFees?: ProviderFees
  /** Calls a minute and operation that the provider allows us; what it publishes by default. */
  readonly providerCallsPerMinute?: number
  /** How a client's history is read where it can be of any length; `HISTORY_STEPS` by default, less in simulations. */
  readonly historySteps?: HistorySteps
  /** Of API keys that are issued without an expiry; undefined: they have none. */
  readonly keyLifetimeDays?: number
}
