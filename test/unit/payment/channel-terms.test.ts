import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  closesUpstream,
  expectedSettlement,
  expiryOf,
  nextCheckAt,
} from '../../../shared/channel/channel-timing.ts'
import {
  CHANNELS,
  type ChannelChoice,
  channelOf,
  isSupportedBank,
  MARKUPS,
} from '../../../shared/channel/channels.ts'
import { InvariantError } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import { estimatePricing } from '../../../shared/payment/new-payment.ts'
import {
  addMs,
  DAY_MS,
  entryInForce,
  HOUR_MS,
  MINUTE_MS,
  msBetween,
  SECOND_MS,
  type Timestamp,
  timestampOf,
} from '../../../shared/time.ts'
import { BANKS, CHANNEL_FACTS } from '../../contract/xendit/provider-facts.ts'

/** A time after every dated entry: the facts are those of the latest terms. */
const NOW = '2099-12-31T00:00:00.000Z' as Timestamp

describe('estimatePricing (spec 2.1.1)', () => {
  // The table of the specification once more, so that the code's own data is not its proof.
  it.each([
    ...CHANNEL_FACTS.map(
      ({ method, channelCode, permille, flat }) => [method, channelCode, permille, flat] as const,
    ),
    ...['ASTRAPAY', 'BCA', '__proto__', 'constructor'].map(
      (code) => ['ewallet', code, 20n, 500n] as const,
    ),
  ])(
    'prices %s %s at any amount, rounded down to the last digit',
    (method, channelCode, permille, flat) => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 10 ** 12 }), (amount) => {
          const fee = (BigInt(amount) * permille) / 1_000n + flat
          const markup = (BigInt(amount) * 10n) / 10_000n

          const pricing = estimatePricing(
            { method, channelCode, notionalMinor: minor(amount) },
            NOW,
          )

          const [providerFeeMinor, markupMinor, netMinor] = [
            fee,
            markup,
            BigInt(amount) - fee - markup,
          ].map(Number)
          expect(pricing).toStrictEqual({ providerFeeMinor, markupMinor, netMinor })
        }),
      )
    },
  )

  it.each([
    ['a bank without a tariff', 'NOBANK', NOW],
    ['a time before all tariffs', 'BCA', '2019-12-31T23:59:59.999Z' as Timestamp],
  ])('refuses to guess the tariff of %s', (_, channelCode, at) => {
    const input = { method: 'virtual_account', channelCode, notionalMinor: minor(1) } as const

    expect(() => estimatePricing(input, at)).toThrow(InvariantError)
  })
})

it('isSupportedBank knows the banks of the documents and no other name', () => {
  const names = [...BANKS, 'NOBANK', 'bca', '', 'OVO', '__proto__', 'toString']

  expect(names.filter((name) => isSupportedBank(name, NOW))).toStrictEqual([...BANKS])
})

it('every channel has its facts, by the name that merchants use', () => {
  const names = CHANNELS.map(({ method, code }) => `${method} ${code}`)
  const described = CHANNEL_FACTS.map(({ method, channelCode = '' }) => `${method} ${channelCode}`)

  expect(names.toSorted()).toStrictEqual(described.toSorted())
})

it.each(CHANNEL_FACTS)(
  'expectedSettlement of $providerCode is when the provider settles: $settles',
  ({ settles, ...channel }) => {
    const monday = timestampOf(Date.UTC(2026, 10, 16, 5))
    const wait = settles === 'at once' ? 5 * MINUTE_MS : settles * DAY_MS

    expect(expectedSettlement(channel, monday)).toBe(addMs(monday, wait))
  },
)

it.each(CHANNEL_FACTS)(
  'the table of channels says of $providerCode what the pages say: limits, refund and dispute',
  ({ method, amounts: [least, most], refund: within, ...channel }) => {
    expect(channelOf({ method, ...channel }).facts).toMatchObject({
      amounts: { least, most },
      refund: within === undefined ? { by: 'transfer' } : { by: 'dashboard', within },
      dispute: method === 'qris' ? 'callback' : 'email',
    })
  },
)

describe('entryInForce', () => {
  it.each([
    [0, 10],
    [999, 10],
    [1_000, 20],
    [1_001, 20],
  ])('answers the entry in force %d ms after the start of the first entry: %d bps', (ms, bps) => {
    const entries = [
      { effectiveFrom: NOW, bps: 10 },
      { effectiveFrom: addMs(NOW, 1_000), bps: 20 },
    ]

    expect(entryInForce(entries, addMs(NOW, ms)).bps).toBe(bps)
    expect(() => entryInForce(entries, addMs(NOW, -1))).toThrow(InvariantError)
  })

  it('gets every list of terms in order, and the terms of each wallet begin as those of any wallet', () => {
    const anyWallet = channelOf({ method: 'ewallet', channelCode: 'ASTRAPAY' })

    for (const walletChoice of CHANNELS.filter(({ method }) => method === 'ewallet')) {
      expect([walletChoice.tariffs[0], walletChoice.timings[0]]).toStrictEqual([
        anyWallet.tariffs[0],
        anyWallet.timings[0],
      ])
    }
    for (const terms of [
      MARKUPS,
      ...CHANNELS.flatMap(({ tariffs, timings }) => [tariffs, timings]),
    ]) {
      const starts = terms.map(({ effectiveFrom }) => effectiveFrom)
      expect(starts).toStrictEqual(starts.toSorted())
    }
  })
})

const BANK: ChannelChoice = { method: 'virtual_account', channelCode: 'BCA' }
function wallet(channelCode: string): ChannelChoice {
  return { method: 'ewallet', channelCode }
}

it.each([
  ...CHANNEL_FACTS.map(
    ({ method, channelCode, lifetimeSeconds: ownSeconds }) =>
      [{ method, channelCode }, ownSeconds] as const,
  ),
  ...['ASTRAPAY', '__proto__'].map((code) => [wallet(code), 86_400] as const),
])(
  'expiryOf %j: the channel’s own without a wish, else the wish if it can be sent, or the earlier time',
  (channel, ownSeconds) => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constantFrom(undefined, 0), fc.integer({ min: 1, max: 31_536_000 })),
        (wish) => {
          const { expiresAt, sentUpstream } = expiryOf(channel, NOW, wish)

          const settable = channel.method === 'virtual_account'
          const seconds = settable ? wish || ownSeconds : Math.min(wish || ownSeconds, ownSeconds)
          expect(msBetween(NOW, expiresAt)).toBe(seconds * SECOND_MS)
          expect(sentUpstream).toBe(settable ? expiresAt : undefined)
        },
      ),
    )
  },
)

function minutes(...values: readonly number[]) {
  return values.map((value) => value * MINUTE_MS)
}

const TRIED_AGAIN = {
  ...wallet('DANA'),
  providerAttempts: [{ startedAt: NOW }, { startedAt: addMs(NOW, MINUTE_MS) }],
}

it('the provider does not end a request that began after its payment at the payment’s expiry', () => {
  const payment = { ...TRIED_AGAIN, createdAt: NOW, expiresAt: addMs(NOW, DAY_MS) }

  expect(closesUpstream(payment)).toBe(false)
  expect(closesUpstream({ ...payment, providerAttempts: [] })).toBe(true)
  expect(closesUpstream({ ...payment, ...BANK })).toBe(true)
})

describe('nextCheckAt (design section 4, expiry and lost callbacks)', () => {
  it.each([
    [wallet('DANA'), 14 * MINUTE_MS, minutes(14, 16)],
    // Every two minutes once the expiry is past and nothing has been decided.
    [wallet('GOPAY'), 30 * MINUTE_MS, minutes(30, 32, 34, 36)],
    [BANK, SECOND_MS, [SECOND_MS]],
    [TRIED_AGAIN, DAY_MS, minutes(16, 1_440)],
  ])('%j with a life of %i ms is checked at the ages %j', (channel, lifeMs, expected) => {
    const payment = { ...channel, createdAt: NOW, expiresAt: addMs(NOW, lifeMs) }
    const ages: number[] = []
    for (let at = NOW; ages.length < expected.length; ages.push(msBetween(NOW, at)))
      at = nextCheckAt(payment, at)

    expect(ages).toStrictEqual(expected)
  })

  it('checks a payment without an expiry every day', () => {
    expect(nextCheckAt({ ...BANK, createdAt: NOW }, addMs(NOW, HOUR_MS))).toBe(
      addMs(NOW, 25 * HOUR_MS),
    )
  })
})
