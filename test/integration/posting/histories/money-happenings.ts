import * as fc from 'fast-check'
import { DAY_MS, HOUR_MS } from '../../../../shared/time.ts'
import type { Death } from './dying-process.ts'

/** What moves money. A number chooses one of several things, modulo their count. */
export type Move =
  | {
      readonly do: 'take'
      readonly which: number
      readonly kind: 'voided' | 'refund' | 'chargeback'
      readonly part: number
    }
  /** A dispute is won; a part of zero is all of it. */
  | { readonly do: 'give'; readonly which: number; readonly part: number }
  /** A row that took or gave before becomes void. */
  | { readonly do: 'undo'; readonly which: number }
  /** The provider settles a payment, with the fee that was estimated or another. */
  | { readonly do: 'post'; readonly which: number; readonly feeMinor: number }
  /** A payment has waited for its row until its fee is assumed. */
  | { readonly do: 'assume'; readonly which: number }
  | { readonly do: 'settle' }
  | { readonly do: 'close'; readonly which: number; readonly to: 'manual_paid' | 'failed' }
  | { readonly do: 'recredit'; readonly which: number }
  /** The house writes off what the client owes. */
  | { readonly do: 'write off' }

export type Happening =
  | { readonly do: 'pay'; readonly amounts: readonly number[] }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'move'; readonly move: Move; readonly death?: Death | undefined }
  /** The second happens when the first is about to write. */
  | { readonly do: 'race'; readonly first: Move; readonly second: Move }

const which = fc.nat(11)
/** In thousandths of the amount; zero is all of it. */
const part = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 999 }) },
)

const often = <Arbitrary>(weight: number, arbitrary: Arbitrary) => ({ weight, arbitrary })
const one = <const What extends string, Fields extends object>(
  what: What,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => fc.record<Fields>(fields).map((chosen) => ({ do: what, ...chosen }))

const kind = fc.constantFrom('voided' as const, 'refund' as const, 'refund' as const, 'chargeback' as const)
const to = fc.constantFrom('manual_paid' as const, 'failed' as const, 'failed' as const)
const feeMinor = fc.constantFrom(4_000, 4_440, 3_000, 0)

const move: fc.Arbitrary<Move> = fc.oneof(
  often(5, one('take', { which, kind, part })),
  often(3, one('give', { which, part })),
  often(2, one('undo', { which })),
  often(6, one('post', { which, feeMinor })),
  often(2, one('assume', { which })),
  often(4, one('settle', {})),
  often(3, one('close', { which, to })),
  often(4, one('recredit', { which })),
  often(2, one('write off', {})),
)

const death = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 24 }), when: fc.constantFrom('before' as const, 'after' as const) }),
  { nil: undefined, freq: 3 },
)
const amounts = fc.array(fc.integer({ min: 3_000, max: 60_000 }), { minLength: 1, maxLength: 3 })
const ms = fc.constantFrom(1, HOUR_MS, DAY_MS, DAY_MS, DAY_MS + 1, 3 * DAY_MS)

const happening: fc.Arbitrary<Happening> = fc.oneof(
  often(2, one('pay', { amounts })),
  often(4, one('pass', { ms })),
  often(10, one('move', { move, death })),
  often(3, one('race', { first: move, second: move })),
)

const PAID: Happening = { do: 'pay', amounts: [20_000, 30_000] }
const moves = (...all: readonly Move[]): readonly Happening[] => all.map((chosen) => ({ do: 'move', move: chosen }))

const settledAs = (status: 'manual_paid' | 'failed'): readonly Happening[] => [
  PAID,
  ...moves({ do: 'post', which: 0, feeMinor: 4_440 }, { do: 'post', which: 1, feeMinor: 3_000 }),
  { do: 'pass', ms: DAY_MS },
  ...moves({ do: 'settle' }, { do: 'close', which: 0, to: status }),
]

/** Two payments: open, in a settlement that is paid out (so reversals make a debt), or in one that failed. */
const beginning = fc.constantFrom<readonly Happening[]>([PAID], settledAs('manual_paid'), settledAs('failed'))

/** A client's first payments, and what happens to them. */
export const history: fc.Arbitrary<readonly Happening[]> = fc
  .tuple(beginning, fc.array(happening, { minLength: 6, maxLength: 20 }))
  .map(([first, all]) => [...first, ...all])
