import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import { type ClientId, SettlementIdSchema } from '../ids.ts'
import { less, type Minor, MinorSchema, ZERO } from '../money.ts'
import { windowKey } from '../table/keys.ts'
import { all, atMost, equals, isNew, put, type Step, update } from '../table/step.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

/**
 * What settlements have taken of a client's money. The client's creation writes it (design section
 * 3).
 */
export const WindowSchema = v.object({
  /** Every entry before this time is in a settlement. */
  settledUntil: TimestampSchema,
  /** The fence: no entry is posted before this time. */
  closedUntil: TimestampSchema,
  /** Nets of re-credited settlements, until the next settlement takes them. */
  availableMinor: MinorSchema,
  /** Nets of settlements recorded, or failed and not yet re-credited. */
  inSettlementMinor: MinorSchema,
  paidOutMinor: MinorSchema,
  /** What the house wrote off of the client's debt. */
  writtenOffMinor: MinorSchema,
  lastSettlementId: v.optional(SettlementIdSchema),
  /** The progress of a sum (settlement/settlement-store.ts), and how often a run has stored it. */
  progress: v.optional(v.unknown()),
  progressNumber: v.optional(v.number()),
  /** When a settlement, its payout or its re-credit last changed a figure of the balance. */
  changedAt: v.optional(TimestampSchema),
})
export type Window = v.InferOutput<typeof WindowSchema>

export const NO_SUMS = {
  availableMinor: ZERO,
  inSettlementMinor: ZERO,
  paidOutMinor: ZERO,
  writtenOffMinor: ZERO,
}

export function putWindow(clientId: ClientId, createdAt: Timestamp): Step {
  const window: Window = { settledUntil: createdAt, closedUntil: createdAt, ...NO_SUMS }
  return put(windowKey(clientId), window, isNew)
}

/** A client's window, read consistently. Throws when it is missing. */
export async function readWindow(deps: TableDeps, clientId: ClientId): Promise<Window> {
  const item = await deps.table.get(windowKey(clientId))
  assertInvariant(item !== undefined, 'a client has no window')
  return v.parse(WindowSchema, item)
}

/** Refused when another settlement moved the window after the read. */
export function sweepWindow(settlement: {
  readonly clientId: ClientId
  readonly settlementId: string
  readonly sweptFrom: Timestamp
  readonly sweptUntil: Timestamp
  readonly netMinor: Minor
  /** The re-credits among the settlement's entries, which were available. */
  readonly recreditedMinor: Minor
  readonly createdAt: Timestamp
}): Step {
  return update(
    windowKey(settlement.clientId),
    {
      set: {
        settledUntil: settlement.sweptUntil,
        lastSettlementId: settlement.settlementId,
        changedAt: settlement.createdAt,
      },
      add: {
        inSettlementMinor: settlement.netMinor,
        availableMinor: less(ZERO, settlement.recreditedMinor),
      },
      remove: ['progress'],
    },
    equals('settledUntil', settlement.sweptFrom),
  )
}

/** Refused when the journal is closed at `settledAt`: no payout is added to a day that is over. */
export function payOutOfWindow(clientId: ClientId, netMinor: Minor, settledAt: Timestamp): Step {
  return update(
    windowKey(clientId),
    {
      set: { changedAt: settledAt },
      add: { inSettlementMinor: less(ZERO, netMinor), paidOutMinor: netMinor },
    },
    atMost('closedUntil', settledAt),
  )
}

/** Refused when the journal is closed at `postedAt`. */
export function recreditWindow(clientId: ClientId, netMinor: Minor, postedAt: Timestamp): Step {
  return update(
    windowKey(clientId),
    {
      set: { changedAt: postedAt },
      add: { inSettlementMinor: less(ZERO, netMinor), availableMinor: netMinor },
    },
    atMost('closedUntil', postedAt),
  )
}

/**
 * A write-off, or its recovery. Refused if the sum changed after the read, or the journal is
 * closed.
 */
export function writeOffInWindow(
  clientId: ClientId,
  change: { readonly readMinor: Minor; readonly addMinor: Minor; readonly postedAt: Timestamp },
): Step {
  return update(
    windowKey(clientId),
    { add: { writtenOffMinor: change.addMinor } },
    all(equals('writtenOffMinor', change.readMinor), atMost('closedUntil', change.postedAt)),
  )
}
