import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../../shared/errors.ts'
import { derivedUuid, keyDigestOf, paymentIdForKey, slotOf } from '../../shared/ids.ts'
import { ifValid } from '../../shared/if-valid.ts'
import { bpsFloor, less, MinorSchema, minor, plus, ZERO } from '../../shared/money.ts'
import { pageFields, pageParams } from '../../shared/page.ts'
import {
  AnyTimeSchema,
  addMs,
  DAY_MS,
  END_OF_TIME,
  parseForeignTime,
  TimestampSchema,
  timestampOf,
} from '../../shared/time.ts'
import { aClientId } from '../support/payment-builders.ts'
import { itHoldsFor } from './it-holds-for.ts'

describe('derivedUuid', () => {
  const parts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 4 })
  itHoldsFor(parts)(
    'is a version 8 UUID of RFC 9562 in lower case, whatever the parts',
    (texts) => {
      expect(derivedUuid(...texts)).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
    },
  )

  const aText = fc.string({ unit: 'grapheme', minLength: 1 })

  itHoldsFor(aText, fc.nat())(
    'differs when a text moves from one part to the next',
    (text, cut) => {
      const at = cut % text.length
      const pieces = [text.slice(0, at), text.slice(at)]

      expect(derivedUuid(...pieces)).not.toBe(derivedUuid(text))
      expect(derivedUuid(...pieces)).not.toBe(derivedUuid(...pieces.toReversed(), ''))
    },
  )

  it('never changes, so that old keys still find their payments', () => {
    // The first 16 bytes of `printf '7:payment5:a-key5:é☕' | sha256sum`, with version and variant
    // set.
    expect(derivedUuid('payment', 'a-key', 'é☕')).toBe('b6d772e9-82df-8701-adb0-4610e91d9e2f')
    // The first 16 bytes of `printf a-key | sha256sum`, as base64url.
    expect(keyDigestOf('a-key')).toBe('KooSQPUGNmVVIKyO0iqilA')
    const clientId = aClientId()
    expect(paymentIdForKey(clientId, 'a-key')).toBe(
      derivedUuid('payment', clientId, 'KooSQPUGNmVVIKyO0iqilA'),
    )
  })
})

it('slotOf is stable, in range, and spreads ids evenly', () => {
  const counts = Array.from({ length: 16 }, () => 0)
  for (let at = 0; at < 16_000; at++) {
    const slot = slotOf(derivedUuid(String(at)), 16)
    counts[slot] = (counts[slot] ?? 0) + 1
  }

  expect(counts).toHaveLength(16)
  expect(Math.min(...counts)).toBeGreaterThan(850)
  expect(Math.max(...counts)).toBeLessThan(1_150)
  expect(slotOf('a', 16)).toBe(slotOf('a', 16))
})

describe('bpsFloor', () => {
  const anAmount = fc.integer({ min: 0, max: 2 ** 52 - 1 }).map(minor)
  const bps = fc.integer({ min: 0, max: 10_000 })
  itHoldsFor(anAmount, bps)('is the floor of amount * bps / 10000, exactly', (amount, share) => {
    const result = BigInt(bpsFloor(amount, share))
    const [product, next] = [BigInt(amount) * BigInt(share), (result + 1n) * 10_000n]

    expect(result * 10_000n <= product && product < next).toBe(true)
  })

  it.each([
    [-1, 10],
    [1, -10],
    [1, 0.5],
    [1, Number.NaN],
  ])('refuses the amount %d at %d bps', (amount, share) => {
    expect(() => bpsFloor(minor(amount), share)).toThrow(InvariantError)
  })
})

it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53)])(
  'minor refuses %d',
  (amount) => {
    expect(() => minor(amount)).toThrow(InvariantError)
    expect(v.safeParse(MinorSchema, amount).success).toBe(false)
  },
)

it('amounts have one zero, and throw instead of losing a digit', () => {
  const largest = minor(Number.MAX_SAFE_INTEGER)

  expect([minor(-0), less(ZERO, ZERO)]).toStrictEqual([0, 0])
  expect(() => plus(largest, minor(1))).toThrow(InvariantError)
  expect(() => less(minor(-1), largest)).toThrow(InvariantError)
})

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)
const anInteger = fc.oneof(fc.bigInt(), fc.bigInt(LARGEST - 3n, LARGEST + 3n))

itHoldsFor(anInteger)(
  'pageParams clamp every integer (spec 4.2, 8), and refuse a page beyond 2^53 - 1',
  (value) => {
    const params = v.object(pageParams)
    const perPage = Number(value < 1n ? 1n : value > 100n ? 100n : value)

    expect(v.parse(params, { per_page: String(value) })).toStrictEqual({
      page: 1,
      per_page: perPage,
    })
    expect(v.is(params, { page: String(value) })).toBe(value <= LARGEST)
    if (value > LARGEST) return
    const page = value < 1n ? 1 : Number(value)
    expect(v.parse(params, { page: String(value) })).toStrictEqual({ page, per_page: 25 })
  },
)

it.each([1.5, '1', 2 ** 53])('pageFields refuse the page %j', (page) => {
  expect(v.is(v.object(pageFields), { page })).toBe(false)
})

it.each([
  '2026-11-20T04:10:00Z',
  '2026-11-20T04:10:00.1234Z',
  '2026-11-20T04:10:00.123+00:00',
  '2026-11-20T04:10:00.123z',
  '2026-11-20 04:10:00.123Z',
  '+010000-01-01T00:00:00.000Z',
  '2026-11-20T04:10:00.123Z\n',
  '1969-12-31T23:59:59.999Z',
])('a Timestamp is not %j', (text) => {
  expect(v.is(TimestampSchema, text)).toBe(false)
})

it('a day before the first Timestamp has a text that orders before it, and the end of time is last', () => {
  expect(addMs(timestampOf(0), -DAY_MS)).toBe('1969-12-31T00:00:00.000Z')
  expect(() => addMs(END_OF_TIME, 1)).toThrow('length')
})

it.each([
  ['2026-11-20T04:10:00Z', '2026-11-20T04:10:00.000Z'],
  ['2026-11-20T04:10:00.123456Z', '2026-11-20T04:10:00.123Z'],
  ['2026-11-20T11:10:00+07:00', '2026-11-20T04:10:00.000Z'],
  ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  // No times, or times too early or too late for a Timestamp.
  ...[
    '',
    'soon',
    '2026-13-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '+275760-09-13T00:00:00.000Z',
    '0000-01-01T00:00:00+23:59',
    '1969-12-31T23:59:59.999Z',
    '9000-01-01T00:00:00Z',
  ].map((text) => [text, undefined]),
])('parseForeignTime reads %j as %s', (text = '', expected) => {
  expect(parseForeignTime(text)).toBe(expected)
})

it.each([
  ['2026-11-20T11:10:00+07:00', '2026-11-20T04:10:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59Z', '8999-12-31T23:59:59.999Z'],
  // No times of any day.
  ...[
    '2026-02-29T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T04:60:00Z',
    '2026-11-20',
    '',
    'soon',
  ].map((text) => [text, undefined]),
])('AnyTimeSchema takes %j as %s', (text, expected) => {
  expect(ifValid(AnyTimeSchema, text)).toBe(expected)
})
