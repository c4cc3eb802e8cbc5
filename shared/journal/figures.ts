import { assertInvariant } from '../errors.ts'
import { less, type Minor, plus, ZERO } from '../money.ts'

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

const combine = (a: Figures, b: Figures, by: (a: Minor, b: Minor) => Minor): Figures => ({
  grossMinor: by(a.grossMinor, b.grossMinor),
  feeMinor: by(a.feeMinor, b.feeMinor),
  markupMinor: by(a.markupMinor, b.markupMinor),
  netMinor: by(a.netMinor, b.netMinor),
})

export const addFigures = (a: Figures, b: Figures): Figures => combine(a, b, plus)
export const lessFigures = (a: Figures, b: Figures): Figures => combine(a, b, less)

/** Asserts net = gross - fee - markup before every write of figures. */
export const assertBalanced = ({ grossMinor, feeMinor, markupMinor, netMinor }: Figures): void =>
  assertInvariant(
    less(less(grossMinor, feeMinor), markupMinor) === netMinor,
    'figures do not add up: gross - fee - markup is not net',
  )
