import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { firstOfPage, pageFields, pageOf, pageParams, pagination, paginationWithTotal } from '../../shared/page.ts'

const params = v.object(pageParams)
const fields = v.object(pageFields)

describe('pageParams (spec 4.2, 8)', () => {
  it('are page 1 of 25 when nothing is asked for', () => {
    expect(v.parse(params, {})).toStrictEqual({ page: 1, per_page: 25 })
  })

  it('clamp every integer, of whatever length, but for a page beyond 2^53 - 1, which is refused', () => {
    const largest = BigInt(Number.MAX_SAFE_INTEGER)

    fc.assert(
      fc.property(fc.oneof(fc.bigInt(), fc.bigInt(largest - 3n, largest + 3n)), (value) => {
        const perPage = Number(value < 1n ? 1n : value > 100n ? 100n : value)

        expect(v.parse(params, { per_page: String(value) })).toStrictEqual({ page: 1, per_page: perPage })
        expect(v.is(params, { page: String(value) })).toBe(value <= largest)
        if (value > largest) return
        expect(v.parse(params, { page: String(value) }).page).toBe(value < 1n ? 1 : Number(value))
      }),
    )
  })

  it('refuse every text that is no integer', () => {
    const isInteger = (text: string) => /^[+-]?[0-9]+$/.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER

    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String)), (text) => {
        expect(v.is(params, { page: text })).toBe(isInteger(text))
      }),
    )
  })
})

describe('pageFields', () => {
  it('clamp numbers and refuse fractions and texts', () => {
    expect(v.parse(fields, {})).toStrictEqual({ page: 1, per_page: 25 })
    expect(v.parse(fields, { page: -3, per_page: 1_000 })).toStrictEqual({ page: 1, per_page: 100 })
    expect(v.is(fields, { page: 1.5 })).toBe(false)
    expect(v.is(fields, { page: '1' })).toBe(false)
    expect(v.parse(fields, { page: Number.MAX_SAFE_INTEGER }).page).toBe(Number.MAX_SAFE_INTEGER)
    expect(v.is(fields, { page: 2 ** 53 })).toBe(false)
  })
})

describe('the pagination objects', () => {
  const page = pageOf({ page: 3, per_page: 20 })

  it('count from the first row of the page', () => {
    expect(firstOfPage(page)).toBe(40)
    expect(firstOfPage(pageOf({ page: 1, per_page: 100 }))).toBe(0)
  })

  it('are page and per_page alone, or with totals', () => {
    expect(pagination(page)).toStrictEqual({ page: 3, per_page: 20 })
    expect(paginationWithTotal(page, 41)).toStrictEqual({ page: 3, per_page: 20, total: 41, total_pages: 3 })
  })

  it.each([
    [0, 0],
    [1, 1],
    [20, 1],
    [21, 2],
    [10_000_000, 500_000],
  ])('have for a total of %i %i pages of 20', (total, pages) => {
    expect(paginationWithTotal(page, total).total_pages).toBe(pages)
  })
})
