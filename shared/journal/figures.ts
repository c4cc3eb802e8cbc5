import { assertInvariant } from '../errors.ts'
import { less, type Minor, ZERO } from '../money.ts'
import type { Movement } from './payment-money.ts'

/** The client's side of an entry, in IDR and signed: net = gross - fee - markup (design section 12). */
export type Figures = {
  readonly grossMinor: Minor
  readonly feeMinor: Minor
  readonly markupMinor: Minor
  readonly netMinor: Minor
}

export const NO_FIGURES: Figures = { grossMinor: ZERO, feeMinor: ZERO, markupMinor: ZERO, netMinor: ZERO }

/** The figures of a gross amount, its fee and its markup. */
export const figuresOf = (grossMinor: Minor, feeMinor: Minor, markupMinor: Minor): Figures => ({
  grossMinor,
  feeMinor,
  markupMinor,
  netMinor: less(less(grossMinor, feeMinor), markupMinor),
})

export const lessFigures = (a: Figures, b: Figures): Figures => ({
  grossMinor: less(a.grossMinor, b.grossMinor),
  feeMinor: less(a.feeMinor, b.feeMinor),
  markupMinor: less(a.markupMinor, b.markupMinor),
  netMinor: less(a.netMinor, b.netMinor),
})

/** Asserts net = gross - fee - markup before every write of figures. */
export const assertBalanced = ({ grossMinor, feeMinor, markupMinor, netMinor }: Figures): void =>
  assertInvariant(
    less(less(grossMinor, feeMinor), markupMinor) === netMinor,
    'figures do not add up: gross - fee - markup is not net',
  )

/** The client's side of one paid payment: its price and its reversals. */
export type PaymentMoney = {
  readonly price: Figures
  readonly takenBackMinor: Minor
  /** The payment's own row is VOIDED or REVERSED. */
  readonly isVoid: boolean
  /** Oldest first; each (transaction, type) once. */
  readonly movements: readonly Movement[]
}

/** A payment without movements. */
export const untouched = (price: Figures): PaymentMoney => ({
  price,
  takenBackMinor: ZERO,
  isVoid: false,
  movements: [],
})

/**
 * The sum of a payment's entries, at every moment and by every path: nothing if its own row is void or its whole net
 * was taken back, otherwise its price less what was taken back. Its net is always net - taken back.
 */
export const standingFigures = ({ price, takenBackMinor, isVoid }: PaymentMoney): Figures => {
  if (isVoid || (price.netMinor > 0 && takenBackMinor === price.netMinor)) return NO_FIGURES
  return figuresOf(less(price.grossMinor, takenBackMinor), price.feeMinor, price.markupMinor)
}
