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

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      which,
      kind: fc.constantFrom('voided' as const, 'refund' as const, 'chargeback' as const, 'chargeback' as const),
      part,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('give' as const), which, part }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('close' as const),
      which,
      to: fc.constantFrom('manual_paid' as const, 'failed' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('recredit' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('resolve' as const),
      which,
      resolution: fc.constantFrom('recovered' as const, 'written_off' as const),
    }),
  },
)

const death = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 12 }), when: fc.constantFrom('before' as const, 'after' as const) }),
  { nil: undefined, freq: 3 },
)

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      amounts: fc.array(fc.integer({ min: 10_000, max: 60_000 }), { minLength: 1, maxLength: 3 }),
      estimated: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, HOUR_MS, DAY_MS, DAY_MS, DAY_MS + 1, 3 * DAY_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fee' as const), which }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('move' as const), move, death }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('race' as const), first: move, second: move }) },
)

/** A client's first payments, and what comes of them. */
export const history: fc.Arbitrary<readonly Happening[]> = fc
  .array(happening, { minLength: 6, maxLength: 20 })
  .map((all) => [{ do: 'pay', amounts: [20_000, 30_000], estimated: false }, ...all])
