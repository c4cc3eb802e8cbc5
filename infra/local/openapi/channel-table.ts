import { join } from 'node:path'
import { CHANNELS, type Channel } from '../../../shared/payment/channel/channels.ts'
import {
  entryInForce,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  type Timestamp,
} from '../../../shared/time.ts'
import { channelNamed, type Channel as ProviderChannel } from '../provider-simulator/channels.ts'

/** The page that has the table of channels. */
export const PAYMENTS_PAGE = join(import.meta.dirname, '../../../docs/merchants/payments.md')

/** The content of `payment_destination`, and what the merchant does with it. */
const DESTINATIONS: Readonly<Record<ProviderChannel['destination'], readonly [string, string]>> = {
  virtual_account_number: ['account number, digits', 'show it, with a button that copies it'],
  qr_string: ['QR text', 'draw it as a QR code; any wallet or bank app can scan it'],
  checkout_url: ['URL', 'send the browser there'],
  push: ['empty', 'tell your customer to look at the phone: the wallet asks there at once'],
}

const HEAD = [
  '| `method` | `channel_code` | `payment_destination` | What you do with it | Time to pay | ' +
    "Provider's fee | Amount |",
  '|---|---|---|---|---|---|---|',
]
const ANY_WALLET =
  '| `ewallet` | any other wallet of the provider | URL | send the browser there | 24 hours | ' +
  '2 % + 500 | ask your operator |'

const UNITS = [
  [HOUR_MS, 'hours'],
  [MINUTE_MS, 'minutes'],
  [SECOND_MS, 'seconds'],
] as const

/** Merchants' table of channels. Fees and times are the gateway's, amounts the provider's. */
export function channelTable(at: Timestamp): string {
  return [...HEAD, ...CHANNELS.map((channel) => rowOf(channel, at)), ANY_WALLET].join('\n')
}

function rowOf({ method, code, tariffs, timings }: Channel, at: Timestamp): string {
  const [tariff, timing] = [entryInForce(tariffs, at), entryInForce(timings, at)]
  const { destination, amounts } = channelNamed(method, code) ?? {}
  if (!destination || !amounts)
    throw new Error(`the provider simulator has no entry for ${code}: add it to its channels.ts`)
  const timeToPay = `${spanOf(timing.expiryMs)}${timing.settable ? ', or your `expires_in_seconds`' : ''}`
  const amount = amounts.map((limit) => limit.toLocaleString('en')).join(' to ')
  const cells = [
    `\`${method}\``,
    code === '' ? 'none' : `\`${code}\``,
    ...DESTINATIONS[destination],
    timeToPay,
    feeOf(tariff),
    amount,
  ]
  return `| ${cells.join(' | ')} |`
}

function spanOf(ms: number): string {
  const [unitMs, unit] = UNITS.find(([length]) => ms % length === 0) ?? [1, 'milliseconds']
  return `${ms / unitMs} ${unit}`
}

function feeOf({ bps, flatMinor }: { readonly bps: number; readonly flatMinor: number }): string {
  return [bps > 0 && `${bps / 100} %`, flatMinor > 0 && `${flatMinor}`].filter(Boolean).join(' + ')
}
