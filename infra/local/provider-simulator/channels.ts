import { CHANNELS as CHANNEL_TABLE } from '../../../shared/channel/channels.ts'
import { ProviderError } from './provider-error.ts'

/** When a captured amount settles to the merchant's balance. Before that, its fee is not final. */
export type SettlementRule = { readonly afterSeconds: number } | { readonly businessDays: number }

/** By the provider's documentation (Indonesia, payments API v3). Amounts in IDR. */
export type Channel = {
  readonly category: 'VIRTUAL_ACCOUNT' | 'EWALLET' | 'QR_CODE'
  /** The name in `/transactions`, older than the v3 code. */
  readonly transactionCode: string
  readonly lifetimeSeconds: number
  readonly feeBps: number
  readonly feeFlat: number
  readonly settlement: SettlementRule
  /**
   * `push` asks on the payer's phone. Other channels need a number, a code or a page for the payer.
   */
  readonly destination: 'virtual_account_number' | 'qr_string' | 'checkout_url' | 'push'
  /** The wallet's answer has a link into its app too. */
  readonly hasApp?: true
  readonly virtualAccount?: { readonly prefix: string; readonly length: number }
}

const HOUR = 3600
const HALF_HOUR = 1800
const INSTANT = { settlement: { afterSeconds: 300 } }
const T_PLUS_1 = { settlement: { businessDays: 1 } }
const T_PLUS_2 = { settlement: { businessDays: 2 } }

const VIRTUAL_ACCOUNT = {
  category: 'VIRTUAL_ACCOUNT',
  destination: 'virtual_account_number',
  // The v3 default is not published; the older API kept virtual accounts open for 31 years.
  lifetimeSeconds: 31 * 365 * 24 * HOUR,
  feeBps: 0,
  feeFlat: 4000,
} as const

const WALLET = {
  category: 'EWALLET',
  destination: 'checkout_url',
  lifetimeSeconds: HALF_HOUR,
  feeBps: 200,
  feeFlat: 0,
} as const

const QR_CODE = {
  category: 'QR_CODE',
  destination: 'qr_string',
  lifetimeSeconds: 48 * HOUR,
  feeBps: 70,
  feeFlat: 0,
} as const

const BANKS = new Map<string, Pick<Channel, 'virtualAccount' | 'settlement'>>([
  ['BCA', { ...T_PLUS_1, virtualAccount: { prefix: '38165', length: 15 } }],
  ['BNI', { ...INSTANT, virtualAccount: { prefix: '8808', length: 16 } }],
  ['BRI', { ...INSTANT, virtualAccount: { prefix: '13282', length: 18 } }],
  ['MANDIRI', { ...INSTANT, virtualAccount: { prefix: '88608', length: 16 } }],
  ['PERMATA', { ...INSTANT, virtualAccount: { prefix: '7293', length: 16 } }],
])

const WALLETS = new Map<string, Partial<Channel>>([
  ['OVO', { destination: 'push', lifetimeSeconds: 55 }],
  ['DANA', { hasApp: true, lifetimeSeconds: 24 * HOUR, feeBps: 150, feeFlat: 500 }],
  ['LINKAJA', { feeBps: 150 }],
  ['SHOPEEPAY', {}],
  ['GOPAY', { ...T_PLUS_1, hasApp: true }],
])

/** Throws `API_VALIDATION_ERROR` for an unknown code. */
export function requireChannel(code: string) {
  const channel = channelOf(code)
  if (channel) return channel
  const message = `API endpoint and method is not supported for '${code}' channel code with country 'ID'`
  throw new ProviderError('API_VALIDATION_ERROR', message)
}

/**
 * Undefined for an unknown bank. Any other unknown code is a new wallet without known limits,
 * because the gateway forwards unknown wallet codes.
 */
function channelOf(code: string): Channel | undefined {
  if (code === 'QRIS') return { ...QR_CODE, ...T_PLUS_2, transactionCode: code }
  const name = bankOf(code)
  const bank = BANKS.get(name)
  // The plain name of a bank is a code of the older API, which v3 refuses.
  if (name === code && bank) return undefined
  if (name !== code) return bank && { ...VIRTUAL_ACCOUNT, ...bank, transactionCode: name }
  const wallet = WALLETS.get(code) ?? { feeFlat: 500 }
  return { ...WALLET, ...T_PLUS_2, transactionCode: `ID_${code}`, ...wallet }
}

function bankOf(code: string) {
  return code.replace(/_VIRTUAL_ACCOUNT$/, '')
}

/** From the gateway's table of the provider's pages; undefined for a wallet that it lacks. */
export function amountsOf(code: string) {
  const name = code === 'QRIS' ? '' : bankOf(code)
  return CHANNEL_TABLE.find((channel) => channel.code === name)?.facts?.amounts
}
