import type { PaymentMethod } from '../payment-status.ts'
import { DAY_MS, type Dated, MINUTE_MS, SECOND_MS, type Timestamp, timestampOf } from '../time.ts'
import { bankFacts, type ChannelFacts, MILLION, walletFacts } from './channel-facts.ts'

type Terms = {
  /** What the provider charges (spec 2.1.1): `amount * bps / 10000 + flatMinor`. */
  readonly tariffs: readonly (Dated & { readonly bps: number; readonly flatMinor: number })[]
  readonly timings: readonly (Dated & {
    readonly expiryMs: number
    /** False: the provider's own expiry is an upper bound. */
    readonly settable: boolean
    /** When a customer has usually paid or given up, on channels whose provider reports that. */
    readonly usualMs?: number
    /** How long after the expiry to check, on channels whose result may arrive late. */
    readonly graceMs?: number
  })[]
}

export type Channel = Terms & {
  readonly method: PaymentMethod
  /** The channel's name for clients (`channel_code`); empty for QRIS. */
  readonly code: string
  /** The fields that the provider requires. */
  readonly needs: {
    readonly displayName?: true
    readonly phone?: true
    /** Where the customer's browser goes after the payment, by outcome. */
    readonly returnUrls?: readonly (keyof ReturnUrls)[]
  }
  /**
   * The provider calls the phone at once. A push with unknown outcome may be paid for this long.
   */
  readonly push?: { readonly lifetimeMs: number }
  /** The provider books and settles within minutes; other channels take a business day or more. */
  readonly settlesAtOnce?: true
  /** Business days until the provider settles. Only for channels that do not settle at once. */
  readonly settlementDays?: number
  /** Undefined for a channel outside the table. */
  readonly facts?: ChannelFacts
}

const START: Dated = { effectiveFrom: timestampOf(Date.UTC(2020, 0, 1)) }

/** Our markup on every channel, besides the provider's fee. */
export const MARKUPS: readonly (Dated & { readonly bps: number })[] = [{ ...START, bps: 10 }]

/** With a usual check: only a callback reports that a customer left, and a callback may be lost. */
const ALL_DAY = [{ ...START, expiryMs: DAY_MS, settable: false, usualMs: 15 * MINUTE_MS }]

/**
 * How long a push may be paid. A wallet that is not in the table may push too, as JENIUSPAY does.
 */
const PUSH = { lifetimeMs: 60 * SECOND_MS }

/** The terms of an unknown wallet, and of every wallet before the first entry of its own terms. */
const ANY_WALLET: Terms = { tariffs: tariff(200, 500), timings: ALL_DAY }

/** A payment expires so soon that an earlier check would help little. */
const HALF_HOUR = [{ ...START, expiryMs: 30 * MINUTE_MS, settable: false }]

const QRIS: Channel = {
  method: 'qris',
  code: '',
  needs: {},
  tariffs: tariff(70),
  timings: [{ ...START, expiryMs: 2 * DAY_MS, settable: false }],
  // Other pages say 10 million, and 30 days.
  facts: {
    ...walletFacts(1, 20 * MILLION, '7 days, only from named issuers', 'present'),
    dispute: 'callback',
  },
}

export const CHANNELS: readonly Channel[] = [
  bank('BCA', { settlementDays: 1, facts: bankFacts(10_000, 50 * MILLION) }),
  bank('BNI', { settlesAtOnce: true, facts: bankFacts(1, 50 * MILLION) }),
  bank('BRI', { settlesAtOnce: true, facts: bankFacts(1, 50_000 * MILLION) }),
  bank('MANDIRI', { settlesAtOnce: true, facts: bankFacts(1, 50_000 * MILLION) }),
  bank('PERMATA', { settlesAtOnce: true, facts: bankFacts(1, 9_999_999_999) }),
  wallet('OVO', {
    facts: walletFacts(100, 20 * MILLION, '14 days, only of merchant-initiated payments', 'push'),
    needs: { phone: true },
    push: PUSH,
    tariffs: tariff(200),
    timings: [{ ...START, expiryMs: 55 * SECOND_MS, settable: false, graceMs: MINUTE_MS }],
  }),
  wallet('DANA', {
    facts: walletFacts(100, 20 * MILLION, '30 days'),
    tariffs: tariff(150, 500),
    timings: ALL_DAY,
  }),
  wallet('LINKAJA', {
    facts: walletFacts(1, 20 * MILLION, '30 days, only of the whole amount'),
    tariffs: tariff(150),
    timings: HALF_HOUR,
  }),
  wallet('SHOPEEPAY', {
    facts: walletFacts(1, 20 * MILLION, '365 days'),
    tariffs: tariff(200),
    timings: HALF_HOUR,
  }),
  wallet('GOPAY', {
    facts: walletFacts(1, 50 * MILLION, '45 days'),
    settlementDays: 1,
    needs: { returnUrls: ['success', 'failure', 'cancel'] },
    tariffs: tariff(200),
    timings: HALF_HOUR,
  }),
  QRIS,
]

export type ChannelChoice = {
  readonly method: PaymentMethod
  readonly channelCode?: string | undefined
}

/** An unknown wallet has default terms; an unknown bank has no tariff. */
export function channelOf({ method, channelCode = '' }: ChannelChoice): Channel {
  const knownChannel = listedChannel({ method, channelCode })
  switch (method) {
    case 'qris':
      return QRIS
    case 'virtual_account':
      return knownChannel ?? { ...bank(channelCode), tariffs: [] }
    case 'ewallet':
      return knownChannel ?? wallet(channelCode, { ...ANY_WALLET, push: PUSH })
  }
}

function tariff(bps: number, flatMinor = 0): Terms['tariffs'] {
  return [{ ...START, bps, flatMinor }]
}

function bank(
  code: string,
  settlement: Pick<Channel, 'settlesAtOnce' | 'settlementDays' | 'facts'> = {},
): Channel {
  return {
    method: 'virtual_account',
    code,
    needs: { displayName: true },
    tariffs: tariff(0, 4_000),
    timings: [{ ...START, expiryMs: DAY_MS, settable: true }],
    ...settlement,
  }
}

function wallet(code: string, { tariffs, timings, ...fields }: Terms & Partial<Channel>): Channel {
  return {
    method: 'ewallet',
    code,
    needs: { returnUrls: ['success', 'failure'] },
    tariffs: [...ANY_WALLET.tariffs, ...tariffs],
    timings: [...ANY_WALLET.timings, ...timings],
    ...fields,
  }
}

export function isSupportedBank(code: string, at: Timestamp): boolean {
  return channelOf({ method: 'virtual_account', channelCode: code }).tariffs.some(
    ({ effectiveFrom }) => effectiveFrom <= at,
  )
}

/** The provider calls the phone, or may do so. */
export function mayPush(choice: ChannelChoice): boolean {
  return channelOf(choice).push !== undefined
}

/** Without a destination, whatever the provider answers (spec 2.1.2). */
export function isPushChannel(choice: ChannelChoice): boolean {
  return mayPush(choice) && isListedChannel(choice)
}

/** A channel of spec 2.1.1 by name. */
export function isListedChannel(choice: ChannelChoice): boolean {
  return listedChannel(choice) !== undefined
}

function listedChannel({ method, channelCode = '' }: ChannelChoice) {
  return CHANNELS.find((channel) => channel.method === method && channel.code === channelCode)
}

/** The pages that the customer's browser opens after the payment. */
export type ReturnUrls = { readonly [Outcome in 'success' | 'failure' | 'cancel']?: string }
