import * as fc from 'fast-check'
import { DAY_MS, HOUR_MS } from '../../../../shared/time.ts'
import type { Death } from '../../../support/dying-process.ts'

/** What moves the books. Numbers that choose one of several things are taken modulo how many there are. */
export type Move =
  | {
      readonly do: 'take'
      readonly which: number
      readonly kind: 'voided' | 'refund' | 'chargeback'
      readonly part: number
    }
  /** A dispute is won; a part of zero is all of it. */
  | { readonly do: 'give'; readonly which: number; readonly part: number }
  | { readonly do: 'settle' }
  | { readonly do: 'close'; readonly which: number; readonly to: 'manual_paid' | 'failed' }
  | { readonly do: 'recredit'; readonly which: number }
  /** An operator closes something that is owed. */
  | { readonly do: 'resolve'; readonly which: number; readonly resolution: 'recovered' | 'written_off' }

export type Happening =
  | { readonly do: 'pay'; readonly amounts: readonly number[]; readonly estimated: boolean }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'fee'; readonly which: number }
  | { readonly do: 'move'; readonly move: Move; readonly death?: Death | undefined }
  /** The second happens when the first is about to write. */
  | { readonly do: 'race'; readonly first: Move; readonly second: Move }

const which = fc.nat(11)
/** In thousandths of the amount; mostly all of it. */
const part = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 999 }) },
)

const often = <Arbitrary>(weight: number, arbitrary: Arbitrary) => ({ weight, arbitrary })
const one = <const What extends string, Fields extends object>(
  what: What,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => fc.record<Fields>(fields).map((chosen) => ({ do: what, ...chosen }))

const kind = fc.constantFrom('voided' as const, 'refund' as const, 'chargeback' as const, 'chargeback' as const)
const to = fc.constantFrom('manual_paid' as const, 'failed' as const)
const resolution = fc.constantFrom('recovered' as const, 'written_off' as const)

const move: fc.Arbitrary<Move> = fc.oneof(
  often(6, one('take', { which, kind, part })),
  often(3, one('give', { which, part })),
  often(4, one('settle', {})),
  often(3, one('close', { which, to })),
  often(2, one('recredit', { which })),
  often(1, one('resolve', { which, resolution })),
)

const death = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before' as const, 'after' as const) }),
  { nil: undefined, freq: 3 },
)
const amounts = fc.array(fc.integer({ min: 10_000, max: 60_000 }), { minLength: 1, maxLength: 3 })
const ms = fc.constantFrom(1, HOUR_MS, DAY_MS, DAY_MS, DAY_MS + 1, 3 * DAY_MS)

const happening: fc.Arbitrary<Happening> = fc.oneof(
  often(2, one('pay', { amounts, estimated: fc.boolean() })),
  often(4, one('pass', { ms })),
  often(1, one('fee', { which })),
  often(9, one('move', { move, death })),
  often(3, one('race', { first: move, second: move })),
)

/** A client's first payments, and what comes of them. */
export const history: fc.Arbitrary<readonly Happening[]> = fc
  .array(happening, { minLength: 6, maxLength: 20 })
  .map((all) => [{ do: 'pay', amounts: [20_000, 30_000], estimated: false }, ...all])
