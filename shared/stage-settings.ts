/**
 * How the provider takes its fees, by our contract with it. `deducted`: from each payment when it settles. `invoiced`:
 * billed after the month, so that its transactions show none and the tariff's fee is the actual one.
 */
export const PROVIDER_FEES = ['deducted', 'invoiced'] as const
export type ProviderFees = (typeof PROVIDER_FEES)[number]

/** What differs between stages and the code must know. Set by the stack, or by the local gateway for stage `local`. */
export type StageSettings = {
  /** Part of every resource's name and of every API key. Lower-case letters, digits and dashes. */
  readonly name: string
  /** Stage local only: webhooks may go to loopback addresses, over http and on any port. */
  readonly allowLoopbackWebhooks: boolean
  /** Where a wallet sends the customer back when the client's registration names no return URL. */
  readonly defaultReturnUrl: string
  /** Name shown to the payer of a virtual account when the client has none that a bank accepts. */
  readonly defaultDisplayName: string
  /** HTTP is answered only when it came through the front, which shows by the origin secret it adds. Off by default. */
  readonly behindFront?: boolean
  /** The API has a name of its own, which browsers may be told to ask over HTTPS alone. Off by default. */
  readonly hasDomain?: boolean
  /** `deducted` by default. */
  readonly providerFees?: ProviderFees
  /** Calls a minute and operation that the provider allows us; what it publishes by default. */
  readonly providerCallsPerMinute?: number
}
