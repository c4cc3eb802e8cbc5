import * as v from 'valibot'
import { assertInvariant } from '../errors.ts'
import { less, MinorSchema, plus, ZERO } from '../money.ts'

/** What a settlement is made of (spec 2.3). */
export const SumsSchema = v.strictObject({
  grossMinor: MinorSchema,
  providerFeesMinor: MinorSchema,
  markupMinor: MinorSchema,
  netMinor: MinorSchema,
  paymentCount: v.number(),
})
export type Sums = v.InferOutput<typeof SumsSchema>

export const NO_SUMS: Sums = {
  grossMinor: ZERO,
  providerFeesMinor: ZERO,
  markupMinor: ZERO,
  netMinor: ZERO,
  paymentCount: 0,
}

export const addSums = (a: Sums, b: Sums): Sums => ({
  grossMinor: plus(a.grossMinor, b.grossMinor),
  providerFeesMinor: plus(a.providerFeesMinor, b.providerFeesMinor),
  markupMinor: plus(a.markupMinor, b.markupMinor),
  netMinor: plus(a.netMinor, b.netMinor),
  paymentCount: a.paymentCount + b.paymentCount,
})

export const lessSums = (a: Sums, b: Sums): Sums => ({
  grossMinor: less(a.grossMinor, b.grossMinor),
  providerFeesMinor: less(a.providerFeesMinor, b.providerFeesMinor),
  markupMinor: less(a.markupMinor, b.markupMinor),
  netMinor: less(a.netMinor, b.netMinor),
  paymentCount: a.paymentCount - b.paymentCount,
})

/** gross - fees - markup = net, or nothing is written: checked before every settlement. */
export const assertBalanced = (sums: Sums): void => {
  const net = less(less(sums.grossMinor, sums.providerFeesMinor), sums.markupMinor)
  assertInvariant(net === sums.netMinor, 'a settlement does not add up: gross - fees - markup is not net')
}
