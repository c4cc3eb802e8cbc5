import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { InvariantError } from '../../shared/errors.ts'
import { bpsFloor, less, MinorSchema, minor, plus, ZERO } from '../../shared/money.ts'
import { itHoldsFor } from './it-holds-for.ts'

const anAmount = fc.integer({ min: 0, max: 2 ** 52 - 1 }).map(minor)
const bps = fc.integer({ min: 0, max: 10_000 })

describe('bpsFloor', () => {
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
  ])('refuses %d at %d', (amount, share) => {
    expect(() => bpsFloor(minor(amount), share)).toThrow(InvariantError)
  })
})

describe('minor', () => {
  it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 53)])('refuses %d', (amount) => {
    expect(() => minor(amount)).toThrow(InvariantError)
    expect(v.safeParse(MinorSchema, amount).success).toBe(false)
  })

  it('has one zero', () => {
    expect(Object.is(minor(-0), 0)).toBe(true)
    expect(Object.is(less(ZERO, ZERO), 0)).toBe(true)
  })
})

it('plus and less throw instead of losing a digit', () => {
  const largest = minor(Number.MAX_SAFE_INTEGER)

  expect(() => plus(largest, minor(1))).toThrow(InvariantError)
  expect(() => less(minor(-1), largest)).toThrow(InvariantError)
})
