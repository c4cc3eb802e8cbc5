import * as v from 'valibot'
import { assertInvariant } from './errors.ts'

/** IDR minor units: a safe integer. The net of a tiny payment may be negative. */
export const MinorSchema = v.pipe(v.number(), v.safeInteger(), v.brand('Minor'))
export type Minor = v.InferOutput<typeof MinorSchema>

/** Throws for a number that is no safe integer, so that no rounded amount enters the ledger. */
export function minor(amount: number): Minor {
  assertInvariant(Number.isSafeInteger(amount), 'an amount is not a safe integer')
  // -0 becomes 0, so that comparisons and JSON are equal.
  return v.parse(MinorSchema, amount === 0 ? 0 : amount)
}

export const ZERO = minor(0)

const MAX_ADJUSTED = 1_000_000_000_000

/** An amount that an operator may book by hand. */
export const AdjustedMinorSchema = v.pipe(
  v.number(),
  v.safeInteger(),
  v.minValue(-MAX_ADJUSTED, `at most ${MAX_ADJUSTED} either way`),
  v.maxValue(MAX_ADJUSTED, `at most ${MAX_ADJUSTED} either way`),
  v.transform(minor),
)

export function plus(a: Minor, b: Minor): Minor {
  return minor(a + b)
}
export function less(a: Minor, b: Minor): Minor {
  return minor(a - b)
}
export function negated(amount: Minor): Minor {
  return minor(-Number(amount))
}
export function smaller(a: Minor, b: Minor): Minor {
  return minor(Math.min(a, b))
}
export function atLeastZero(amount: Minor): Minor {
  return minor(Math.max(amount, 0))
}

/** `amount * bps / 10000`, rounded down. In BigInt, because the product may exceed 2^53. */
export function bpsFloor(amount: Minor, bps: number): Minor {
  assertInvariant(
    amount >= 0 && Number.isSafeInteger(bps) && bps >= 0,
    'bpsFloor takes nonnegative integers',
  )
  return minor(Number((BigInt(amount) * BigInt(bps)) / 10_000n))
}

/** What the client gets. Negative for tiny amounts; credited as is. */
export function netOf(notionalMinor: Minor, providerFeeMinor: Minor, markupMinor: Minor): Minor {
  return less(less(notionalMinor, providerFeeMinor), markupMinor)
}
