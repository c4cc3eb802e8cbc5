import { assertNever } from '../../errors.ts'
import type { PaymentMethod } from '../../payment-method.ts'
import type { ReturnUrls } from '../../provider/provider.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS, type Timestamp, timestampOf } from '../../time.ts'

/** In force from a time on, until the next of its list. */
type Dated = { readonly effectiveFrom: Timestamp }

/** `amount * bps / 10000 + flatMinor`. */
type Tariff = { readonly bps: number; readonly flatMinor: number }

/**
 * When payments expire by themselves, and when we ask the provider about them one by one: once when most customers would
 * have paid, where that is said, and once when their time is over. Lost callbacks are found by the sync, for many at once.
 */
type Timing = {
  /** Lifetime of a payment when the client sets none. */
  readonly expiryMs: number
  /** The provider takes an expiry of ours; elsewhere the channel's own expiry is an upper bound. */
  readonly settable: boolean
  /** The age at which a customer has usually paid or given up, where the provider says of its own when one gave up. */
  readonly usualMs?: number
  /** How long behind the expiry to look, for channels whose answer may still be on its way then. */
  readonly graceMs?: number
}

/** Oldest first, tariffs and timings alike: a change is a new entry, and old payments stay explainable. */
type Terms = {
  /** What the provider charges (spec 2.1.1). */
  readonly tariffs: readonly (Dated & Tariff)[]
  /** Lifetimes are the provider's published ones. */
  readonly timings: readonly (Dated & Timing)[]
}

/**
 * Calls the customer's phone at once and has nothing to show. An attempt with unknown outcome may still be paid, for this
 * long: the push's own life, with a margin.
 */
export type Push = { readonly lifetimeMs: number }

/** All that is particular about one bank or wallet, or about QRIS. */
export type Channel = Terms & {
  readonly method: PaymentMethod
  /** What clients call it (`channel_code`); empty for QRIS. */
  readonly code: string
  /** What the provider wants to know of a payment. Not more: what a channel does not know can be refused. */
  readonly needs: {
    readonly displayName?: true
    readonly phone?: true
    /** Where the customer's browser goes afterwards, by outcome. */
    readonly returnUrls?: readonly (keyof ReturnUrls)[]
  }
  readonly push?: Push
  /**
   * The provider books and settles a payment on it within minutes: its actual fee may be known at success and is asked
   * for. Elsewhere it comes a business day later or more, and the estimate stays until the sync.
   */
  readonly settlesAtOnce?: true
  /** Business days until the provider settles, where it does not at once; two unless it says otherwise. */
  readonly settlementDays?: number
}

const START: Dated = { effectiveFrom: timestampOf(Date.UTC(2020, 0, 1)) }

/** What we charge beside the provider, on every channel. Oldest first. */
export const MARKUPS: readonly (Dated & Pick<Tariff, 'bps'>)[] = [{ ...START, bps: 10 }]

/** A wallet's page or app is left within minutes; what failed there is told by a callback alone, which may be lost. */
const USUAL_WALLET_MS = 15 * MINUTE_MS

const bank = (code: string, own: Pick<Channel, 'settlesAtOnce' | 'settlementDays'> = {}): Channel => ({
  method: 'virtual_account',
  code,
  needs: { displayName: true },
  tariffs: [{ ...START, bps: 0, flatMinor: 4_000 }],
  timings: [{ ...START, expiryMs: DAY_MS, settable: true }],
  ...own,
})

/** Terms of a wallet that is not named below, and of any other until its own begin. */
const ANY_WALLET: Terms = {
  tariffs: [{ ...START, bps: 200, flatMinor: 500 }],
  timings: [{ ...START, expiryMs: DAY_MS, settable: false, usualMs: USUAL_WALLET_MS }],
}

const wallet = (code: string, { tariffs, timings, ...own }: Terms & Partial<Channel>): Channel => ({
  method: 'ewallet',
  code,
  needs: { returnUrls: ['success', 'failure'] },
  tariffs: [...ANY_WALLET.tariffs, ...tariffs],
  timings: [...ANY_WALLET.timings, ...timings],
  ...own,
})

/** Over soon enough: another question before would tell nobody much earlier. */
const HALF_HOUR = [{ ...START, expiryMs: 30 * MINUTE_MS, settable: false }]

const QRIS: Channel = {
  method: 'qris',
  code: '',
  needs: {},
  tariffs: [{ ...START, bps: 70, flatMinor: 0 }],
  timings: [{ ...START, expiryMs: 2 * DAY_MS, settable: false }],
}

/** Every channel with terms of its own. */
export const CHANNELS: readonly Channel[] = [
  bank('BCA', { settlementDays: 1 }),
  bank('BNI', { settlesAtOnce: true }),
  bank('BRI', { settlesAtOnce: true }),
  bank('MANDIRI', { settlesAtOnce: true }),
  bank('PERMATA', { settlesAtOnce: true }),
  wallet('OVO', {
    needs: { phone: true },
    push: { lifetimeMs: 60 * SECOND_MS },
    tariffs: [{ ...START, bps: 200, flatMinor: 0 }],
    timings: [{ ...START, expiryMs: 55 * SECOND_MS, settable: false, graceMs: MINUTE_MS }],
  }),
  wallet('DANA', {
    tariffs: [{ ...START, bps: 150, flatMinor: 500 }],
    timings: [{ ...START, expiryMs: DAY_MS, settable: false, usualMs: USUAL_WALLET_MS }],
  }),
  wallet('LINKAJA', { tariffs: [{ ...START, bps: 150, flatMinor: 0 }], timings: HALF_HOUR }),
  wallet('SHOPEEPAY', { tariffs: [{ ...START, bps: 200, flatMinor: 0 }], timings: HALF_HOUR }),
  wallet('GOPAY', {
    settlementDays: 1,
    needs: { returnUrls: ['success', 'failure', 'cancel'] },
    tariffs: [{ ...START, bps: 200, flatMinor: 0 }],
    timings: HALF_HOUR,
  }),
  QRIS,
]

export type ChannelChoice = { readonly method: PaymentMethod; readonly channelCode?: string | undefined }

/** What is known of a channel. A wallet that nobody named is one all the same; a bank has no tariff then. */
export const channelOf = ({ method, channelCode = '' }: ChannelChoice): Channel => {
  switch (method) {
    case 'qris':
      return QRIS
    case 'virtual_account':
      return named(method, channelCode) ?? { ...bank(channelCode), tariffs: [] }
    case 'ewallet':
      return named(method, channelCode) ?? wallet(channelCode, ANY_WALLET)
    default:
      return assertNever(method)
  }
}

const named = (method: PaymentMethod, code: string) =>
  CHANNELS.find((channel) => channel.method === method && channel.code === code)

/** The entry in force at a time; undefined before the first. */
export const inForce = <Entry extends Dated>(entries: readonly Entry[], at: Timestamp): Entry | undefined =>
  entries.findLast(({ effectiveFrom }) => effectiveFrom <= at)

/** Banks a virtual account can be made at. */
export const isSupportedBank = (code: string, at: Timestamp): boolean =>
  inForce(channelOf({ method: 'virtual_account', channelCode: code }).tariffs, at) !== undefined

/** An attempt on it with unknown outcome may still be paid, on the customer's phone. */
export const isPushChannel = (choice: ChannelChoice): boolean => channelOf(choice).push !== undefined

/** Whether the fee of a payment on it may be known when it is paid. */
export const settlesAtOnce = (choice: ChannelChoice): boolean => channelOf(choice).settlesAtOnce === true
