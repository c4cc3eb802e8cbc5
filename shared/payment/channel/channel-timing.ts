import { assertInvariant } from '../../errors.ts'
import type { PaymentMethod } from '../../payment-method.ts'
import { addMs, DAY_MS, earlier, HOUR_MS, MINUTE_MS, SECOND_MS, type Timestamp, timestampOf } from '../../time.ts'

/** When a channel's payments expire by themselves and when we ask the provider about them. */
type ChannelTiming = {
  /** Lifetime of a payment when the client sets none. */
  readonly expiryMs: number
  /** The provider takes an expiry of ours; elsewhere the channel's own expiry is an upper bound. */
  readonly settable: boolean
  /** Ages at which to ask; afterwards every hour, and at the expiry. Empty: only behind the expiry. */
  readonly checkAgesMs: readonly number[]
  /** How long behind the expiry to look, for channels whose answer may still be on its way then. */
  readonly graceMs: number
}

type TimingTable = {
  readonly effectiveFrom: Timestamp
  readonly virtualAccount: ChannelTiming
  readonly qris: ChannelTiming
  readonly ewallet: Readonly<Record<string, ChannelTiming>>
  readonly ewalletFallback: ChannelTiming
}

const BANK_CHECKS = [5 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS]
const WALLET_CHECKS = [2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS]
const halfHourWallet: ChannelTiming = {
  expiryMs: 30 * MINUTE_MS,
  settable: false,
  checkAgesMs: WALLET_CHECKS,
  graceMs: 0,
}

/** Oldest first. Lifetimes are the provider's published ones. */
const TIMINGS: readonly TimingTable[] = [
  {
    effectiveFrom: timestampOf(Date.UTC(2020, 0, 1)),
    virtualAccount: { expiryMs: DAY_MS, settable: true, checkAgesMs: BANK_CHECKS, graceMs: 0 },
    qris: { expiryMs: 2 * DAY_MS, settable: false, checkAgesMs: BANK_CHECKS, graceMs: 0 },
    ewallet: {
      OVO: { expiryMs: 55 * SECOND_MS, settable: false, checkAgesMs: [], graceMs: MINUTE_MS },
      DANA: { expiryMs: DAY_MS, settable: false, checkAgesMs: WALLET_CHECKS, graceMs: 0 },
      LINKAJA: halfHourWallet,
      SHOPEEPAY: halfHourWallet,
      GOPAY: halfHourWallet,
    },
    ewalletFallback: { expiryMs: DAY_MS, settable: false, checkAgesMs: WALLET_CHECKS, graceMs: 0 },
  },
]

const timingOf = (method: PaymentMethod, channelCode: string | undefined, at: Timestamp): ChannelTiming => {
  const table = TIMINGS.findLast(({ effectiveFrom }) => effectiveFrom <= at)
  assertInvariant(table !== undefined, 'no timing table is in force')
  if (method === 'virtual_account') return table.virtualAccount
  if (method === 'qris') return table.qris
  const code = channelCode ?? ''
  return Object.hasOwn(table.ewallet, code) ? (table.ewallet[code] ?? table.ewalletFallback) : table.ewalletFallback
}

type Channel = { readonly method: PaymentMethod; readonly channelCode?: string | undefined }

/** OVO pushes to the customer's phone at once: an attempt with unknown outcome may be paid within its lifetime. */
export const isPushChannel = ({ method, channelCode }: Channel): boolean =>
  method === 'ewallet' && channelCode === 'OVO'

/** How long a push may still be answered by the customer, with a margin. */
export const PUSH_LIFETIME_MS = 60 * SECOND_MS

/** When a payment made now expires: the earlier of the client's wish and the channel's own, which we enforce. */
export const expiryOf = (channel: Channel, now: Timestamp, expiresInSeconds: number | undefined) => {
  const { expiryMs, settable } = timingOf(channel.method, channel.channelCode, now)
  const own = addMs(now, expiryMs)
  const wished = expiresInSeconds ? addMs(now, expiresInSeconds * SECOND_MS) : undefined
  const expiresAt = wished === undefined ? own : settable ? wished : earlier(wished, own)
  return { expiresAt, sentUpstream: settable ? expiresAt : undefined }
}

/** When the provider is asked again when a question had no answer, or a payment is past its expiry. */
export const RETRY_CHECK_MS = 2 * MINUTE_MS

/** When a payment is looked at whose cancel may have been lost half-way: behind the request, and within a minute. */
export const CANCEL_CHECK_MS = 30 * SECOND_MS

type Checked = Channel & { readonly createdAt: Timestamp; readonly expiresAt?: Timestamp | undefined }

/** When due work looks at a pending payment next: the channel's ages, then hourly, and at the expiry. */
export const nextCheckAt = (payment: Checked, now: Timestamp): Timestamp => {
  const { checkAgesMs, graceMs } = timingOf(payment.method, payment.channelCode, payment.createdAt)
  const byAge = checkAgesMs.map((age) => addMs(payment.createdAt, age)).find((at) => at > now) ?? addMs(now, HOUR_MS)
  if (payment.expiresAt === undefined) return byAge
  const atExpiry = addMs(payment.expiresAt, graceMs)
  if (atExpiry <= now) return addMs(now, RETRY_CHECK_MS)
  return checkAgesMs.length === 0 ? atExpiry : earlier(byAge, atExpiry)
}
