import type { ClientId } from '../ids.ts'
import type { PaymentStatus } from '../payment-status.ts'
import { fieldsFrom } from '../table/attributes.ts'
import { shardKey, windowKey } from '../table/keys.ts'
import {
  absent,
  all,
  any,
  type Condition,
  equals,
  exists,
  type Step,
  unchanged,
  update,
} from '../table/step.ts'
import type { Timestamp } from '../time.ts'
import { COUNT_FIELD, type LedgerShard } from './shard-store.ts'
import type { Window } from './window-store.ts'

export type ShardFigure = 'creditedMinor' | (typeof COUNT_FIELD)[PaymentStatus]

/**
 * Corrects the sums of all shards in the first shard: readers see only sums. Refused if that shard
 * changed after the read.
 */
export function correctShards(
  clientId: ClientId,
  first: LedgerShard,
  { gaps, at }: { readonly gaps: ReadonlyMap<ShardFigure, number>; readonly at: Timestamp },
): Step {
  return update(
    shardKey(clientId, 0),
    { add: fieldsFrom(gaps), ...(gaps.has('creditedMinor') && { set: { creditedAt: at } }) },
    all(
      exists,
      unchanged('creditedAt', first.creditedAt),
      ...[...gaps.keys()].map((field) => isStill(field, first[field])),
    ),
  )
}

/** Zero and absent are the same figure. */
function isStill<Field extends string>(field: Field, value: number): Condition<Field> {
  return value === 0 ? any(absent(field), equals(field, 0)) : equals(field, value)
}

export const WINDOW_SUMS = [
  'availableMinor',
  'inSettlementMinor',
  'paidOutMinor',
  'writtenOffMinor',
] as const
export const WINDOW_CHAIN = ['settledUntil', 'lastSettlementId', 'changedAt'] as const
const FIGURES = [...WINDOW_SUMS, ...WINDOW_CHAIN] as const

type WindowFigures = Pick<Window, (typeof FIGURES)[number]>

/** Refused if a figure changed after the read. A sum in progress begins again. */
export function correctWindow(
  clientId: ClientId,
  window: Window,
  figures: Partial<WindowFigures>,
): Step {
  const goneFigures = FIGURES.filter((name) => name in figures && figures[name] === undefined)
  return update(
    windowKey(clientId),
    { set: { ...figures }, remove: ['progress', ...goneFigures] },
    all(...FIGURES.map((name) => unchanged(name, window[name]))),
  )
}
