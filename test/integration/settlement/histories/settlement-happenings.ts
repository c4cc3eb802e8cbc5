import * as fc from 'fast-check'
import type { Settlement } from '../../../../shared/settlement/settlement.ts'
import { DAY_MS, HOUR_MS } from '../../../../shared/time.ts'
import type { Death } from '../../../support/dying-process.ts'

/** What can happen to a client. Numbers that choose one of several things are taken modulo how many there are. */
export type Happening =
  /** Payments of one millisecond; an odd fee is still estimated, and known upstream unless it ends in 3. */
  | { readonly do: 'pay'; readonly amounts: readonly number[]; readonly fee: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'settle'; readonly by: Settlement['triggeredBy']; readonly death?: Death | undefined }
  | { readonly do: 'fee'; readonly which: number; readonly feeMinor: number }
  | { readonly do: 'close'; readonly which: number; readonly to: 'manual_paid' | 'failed' }
  | { readonly do: 'recredit'; readonly which: number }
  | { readonly do: 'floor'; readonly minor: number }
  | { readonly do: 'provider'; readonly reachable: boolean }
  /** From here on the functions of an older release run, or ours again. */
  | { readonly do: 'release'; readonly older: boolean }
  /** The window becomes one that an older release wrote. */
  | { readonly do: 'forget' }
  /** The balance is asked for, with what is in settlements and what was paid out. */
  | { readonly do: 'look' }

const which = fc.nat(20)
const death = fc.option(
  fc.record({ call: fc.integer({ min: 1, max: 9 }), when: fc.constantFrom('before' as const, 'after' as const) }),
  { nil: undefined, freq: 2 },
)

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      amounts: fc.array(fc.integer({ min: 1_000, max: 60_000 }), { minLength: 1, maxLength: 3 }),
      fee: fc.nat(9),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, HOUR_MS, DAY_MS - 1, DAY_MS, DAY_MS, DAY_MS + 1, 3 * DAY_MS, 7 * DAY_MS),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      by: fc.constantFrom('auto' as const, 'manual' as const),
      death,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fee' as const), which, feeMinor: fc.nat(9_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('close' as const),
      which,
      to: fc.constantFrom('manual_paid' as const, 'failed' as const, 'failed' as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('recredit' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('floor' as const), minor: fc.constantFrom(0, 10_000, 50_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('provider' as const), reachable: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), older: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ do: 'forget' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'look' as const }) },
)

const BEGINNING: readonly Happening[] = [
  { do: 'pay', amounts: [30_000], fee: 0 },
  { do: 'pass', ms: DAY_MS },
  { do: 'settle', by: 'auto' },
]

/** Short, so that there can be many; from the first settlement on, so that every action finds something to act on. */
export const history: fc.Arbitrary<readonly Happening[]> = fc
  .array(happening, { minLength: 6, maxLength: 12 })
  .map((happenings) => [...BEGINNING, ...happenings])
