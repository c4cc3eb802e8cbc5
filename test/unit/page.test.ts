import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { pageFields, pageParams } from '../../shared/page.ts'
import { itHoldsFor } from './it-holds-for.ts'

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER)

describe('pageParams (spec 4.2, 8)', () => {
  const params = v.object(pageParams)

  const anInteger = fc.oneof(fc.bigInt(), fc.bigInt(LARGEST - 3n, LARGEST + 3n))

  itHoldsFor(anInteger)('clamp every integer of any length, and refuse a page beyond 2^53 - 1', (value) => {
    const perPage = Number(value < 1n ? 1n : value > 100n ? 100n : value)

    expect(v.parse(params, { per_page: String(value) })).toStrictEqual({ page: 1, per_page: perPage })
    expect(v.is(params, { page: String(value) })).toBe(value <= LARGEST)
    if (value > LARGEST) return
    const page = value < 1n ? 1 : Number(value)
    expect(v.parse(params, { page: String(value) })).toStrictEqual({ page, per_page: 25 })
  })
})

// Clamped alike: `fuzz-operator-actions.test.ts`. Texts that are no integers: `api-queries.test.ts`.
it.each([1.5, '1', 2 ** 53])('pageFields refuse the page %j', (page) => {
  expect(v.is(v.object(pageFields), { page })).toBe(false)
})
