import { join } from 'node:path'
import { CHANNELS, type Channel } from '../../../shared/channel/channels.ts'
import type { PaymentMethod } from '../../../shared/payment-status.ts'
import {
  entryInForce,
  HOUR_MS,
  MINUTE_MS,
  SECOND_MS,
  type Timestamp,
} from '../../../shared/time.ts'

export const PAYMENTS_PAGE = join(import.meta.dirname, '../../../docs/merchants/payments.md')

/** The content of `payment_destination`, and what the merchant does with it. */
const DESTINATIONS: Readonly<Record<PaymentMethod, readonly [string, string]>> = {
  virtual_account: ['account number, digits', 'show it, with a button that copies it'],
  qris: ['QR text', 'draw it as a QR code; any wallet or bank app can scan it'],
  ewallet: ['URL', 'send the browser there'],
}
const PUSH = ['empty', 'tell your customer to look at the phone: the wallet asks there at once']

const HEAD = [
  '| `method` | `channel_code` | `payment_destination` | What you do with it | Time to pay | ' +
    "Provider's fee | Amount | Refund by your operator |",
  '|---|---|---|---|---|---|---|---|',
]
const ANY_WALLET =
  '| `ewallet` | any other wallet of the provider | URL, or empty if the wallet asks on the ' +
  'phone | send the browser there | 24 hours | 2 % + 500 | ask your operator | ask your operator |'

const UNITS = [
  [HOUR_MS, 'hours'],
  [MINUTE_MS, 'minutes'],
  [SECOND_MS, 'seconds'],
] as const

/** Fees and times are the gateway's, amounts the provider's. */
export function channelTable(at: Timestamp) {
  return [...HEAD, ...CHANNELS.map((channel) => rowOf(channel, at)), ANY_WALLET].join('\n')
}

function rowOf({ method, code, tariffs, timings, facts }: Channel, at: Timestamp) {
  const [tariff, timing] = [entryInForce(tariffs, at), entryInForce(timings, at)]
  if (!facts) throw new Error(`${code} has no facts: add them to channels.ts`)
  const { flow, amounts, refund } = facts
  const timeToPay = `${spanOf(timing.expiryMs)}${timing.settable ? ', or your `expires_in_seconds`' : ''}`
  const [least, most] = [amounts.least, amounts.most].map((limit) => limit.toLocaleString('en'))
  const cells = [
    `\`${method}\``,
    code === '' ? 'none' : `\`${code}\``,
    ...(flow === 'push' ? PUSH : DESTINATIONS[method]),
    timeToPay,
    feeOf(tariff),
    `${least} to ${most}`,
    refund.by === 'transfer' ? 'by bank transfer' : `within ${refund.within}`,
  ]
  return `| ${cells.join(' | ')} |`
}

function spanOf(ms: number) {
  const [unitMs, unit] = UNITS.find(([length]) => ms % length === 0) ?? [1, 'milliseconds']
  return `${ms / unitMs} ${unit}`
}

function feeOf({ bps, flatMinor }: { readonly bps: number; readonly flatMinor: number }) {
  return [bps > 0 && `${bps / 100} %`, flatMinor > 0 && `${flatMinor}`].filter(Boolean).join(' + ')
}
