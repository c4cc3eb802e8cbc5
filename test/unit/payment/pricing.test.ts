import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../../../shared/errors.ts'
import { minor } from '../../../shared/money.ts'
import { CHANNELS, channelOf, inForce, isSupportedBank, MARKUPS } from '../../../shared/payment/channel/channels.ts'
import { estimatePricing } from '../../../shared/payment/channel/pricing.ts'
import type { PaymentMethod } from '../../../shared/payment-method.ts'
import type { Timestamp } from '../../../shared/time.ts'
import { BANKS, CHANNEL_FACTS } from '../../support/provider-facts.ts'

/** Behind every dated entry: the facts are those of the latest terms. */
const NOW = '2099-12-31T00:00:00.000Z' as Timestamp

type Row = readonly [PaymentMethod, string | undefined, permille: bigint, flat: bigint]

/** The table of spec 2.1.1 once more, so that the code's own data is not its proof. */
const SPEC: readonly Row[] = [
  ...CHANNEL_FACTS.map(({ method, channelCode, permille, flat }) => [method, channelCode, permille, flat] as const),
  ['ewallet', 'ASTRAPAY', 20n, 500n],
  ['ewallet', 'BCA', 20n, 500n],
  ['ewallet', '__proto__', 20n, 500n],
  ['ewallet', 'constructor', 20n, 500n],
]

const anAmount = fc.integer({ min: 1, max: 10 ** 12 })

describe('estimatePricing (spec 2.1.1)', () => {
  it.each(SPEC)(
    'prices %s %s at any amount, rounded down, to the last digit',
    (method, channelCode, permille, flat) => {
      fc.assert(
        fc.property(anAmount, (amount) => {
          const fee = (BigInt(amount) * permille) / 1_000n + flat
          const markup = (BigInt(amount) * 10n) / 10_000n

          const pricing = estimatePricing({ method, channelCode, notionalMinor: minor(amount) }, NOW)

          expect(pricing).toStrictEqual({
            providerFeeMinor: Number(fee),
            markupMinor: Number(markup),
            netMinor: Number(BigInt(amount) - fee - markup),
          })
        }),
      )
    },
  )

  it.each([
    ['a bank that has none', 'NOBANK', NOW],
    ['a time before all of them', 'BCA', '2019-12-31T23:59:59.999Z' as Timestamp],
  ])('refuses to guess the tariff of %s', (_, channelCode, at) => {
    const input = { method: 'virtual_account', channelCode, notionalMinor: minor(1) } as const

    expect(() => estimatePricing(input, at)).toThrow(InvariantError)
  })
})

it('isSupportedBank knows the banks of the documents and no other name', () => {
  expect(BANKS.every((bank) => isSupportedBank(bank, NOW))).toBe(true)
  expect(['NOBANK', 'bca', '', 'OVO', '__proto__', 'toString'].some((code) => isSupportedBank(code, NOW))).toBe(false)
})

describe('inForce', () => {
  const entries = [
    { effectiveFrom: '2020-01-01T00:00:00.000Z' as Timestamp, bps: 10 },
    { effectiveFrom: '2027-01-01T00:00:00.000Z' as Timestamp, bps: 20 },
  ]

  it.each([
    ['2019-12-31T23:59:59.999Z', undefined],
    ['2020-01-01T00:00:00.000Z', 10],
    ['2026-12-31T23:59:59.999Z', 10],
    ['2027-01-01T00:00:00.000Z', 20],
    ['2027-01-01T00:00:00.001Z', 20],
  ])('answers the entry in force at %s', (at, bps) => {
    expect(inForce(entries, at as Timestamp)?.bps).toBe(bps)
  })

  it('finds a wallet at the terms of any wallet until its own begin', () => {
    const { tariffs, timings } = channelOf({ method: 'ewallet', channelCode: 'ASTRAPAY' })

    for (const wallet of CHANNELS.filter(({ method }) => method === 'ewallet')) {
      expect([wallet.tariffs[0], wallet.timings[0]]).toStrictEqual([tariffs[0], timings[0]])
    }
  })

  it('finds every list of terms in order', () => {
    for (const terms of [MARKUPS, ...CHANNELS.flatMap(({ tariffs, timings }) => [tariffs, timings])]) {
      const starts = terms.map(({ effectiveFrom }) => effectiveFrom)

      expect(starts).toStrictEqual(starts.toSorted())
    }
  })
})
