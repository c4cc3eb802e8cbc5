import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId, SettlementId } from '../ids.ts'
import { type Window, WindowSchema } from '../ledger/ledger-store.ts'
import { less, type Minor, ZERO } from '../money.ts'
import { all, contains, equals, exists, unchanged } from '../table/condition.ts'
import { windowKey } from '../table/keys.ts'
import { guard, type Step, update } from '../table/step.ts'
import type { Timestamp } from '../time.ts'
import { remainingSums, type Settlement } from './settlement.ts'

/** A client's window: how far its payments have been swept. Born with the client. */
export const readWindow = async (deps: Pick<Deps, 'table'>, clientId: ClientId): Promise<Window> => {
  const item = await deps.table.get(windowKey(clientId))
  assertInvariant(item !== undefined, 'a client has no settlement window')
  return v.parse(WindowSchema, item)
}

/**
 * Moves the window forward over a swept span. Available gains the net by the roll and loses it by the record in the
 * same transaction, so it stays as it is (design section 5). Refused when somebody else moved the window meanwhile, or
 * reversed one of the client's payments.
 */
export const sweepStep = (
  clientId: ClientId,
  /** `stood`: the window as it was read, before the reversals. */
  swept: {
    stood: Pick<Window, 'settledUntil' | 'reversalSeq'>
    until: Timestamp
    id: SettlementId
    net: Minor
    at: Timestamp
  },
): Step =>
  update(
    windowKey(clientId),
    {
      set: { settledUntil: swept.until, changedAt: swept.at },
      add: { settledMinor: swept.net, inSettlementMinor: swept.net, openIds: new Set([swept.id]) },
    },
    all(equals('settledUntil', swept.stood.settledUntil), unchanged('reversalSeq', swept.stood.reversalSeq)),
  )

/**
 * The net of a settlement has reached the merchant. No figure of the balance itself moves, so `changedAt` stays. What
 * lets it happen once is the condition on the settlement, in the same transaction.
 */
export const payOutStep = (clientId: ClientId, id: SettlementId, net: Minor): Step =>
  update(
    windowKey(clientId),
    {
      add: { inSettlementMinor: less(ZERO, net), paidOutMinor: net },
      deleteFromSet: { openIds: new Set([id]) },
    },
    exists,
  )

/**
 * The net of a failed settlement goes back to available, where it waits to be recorded again: what remains of it, and what
 * went back since stays out. With nothing left, nothing waits.
 */
export const recreditStep = (settlement: Settlement, at: Timestamp): Step => {
  const { clientId, settlementId: id, netMinor } = settlement
  const { netMinor: remaining, paymentCount } = remainingSums(settlement)
  const reversed = less(netMinor, remaining)
  return update(
    windowKey(clientId),
    {
      set: { changedAt: at },
      add: {
        availableMinor: remaining,
        inSettlementMinor: less(ZERO, netMinor),
        ...(reversed !== 0 && { reversedSweptMinor: reversed }),
        ...(paymentCount > 0 && { recreditedIds: new Set([id]) }),
      },
      deleteFromSet: { openIds: new Set([id]) },
    },
    exists,
  )
}

/** Guards what is noted on a settlement that waits to be recorded again: it still does. */
export const checkWaiting = (clientId: ClientId, id: SettlementId): Step =>
  guard(windowKey(clientId), contains('recreditedIds', id))

/** A payment of a settlement that waits to be recorded again went back: it waits no longer. Refused when none waits. */
export const leaveOutStep = (clientId: ClientId, id: SettlementId, net: Minor, at: Timestamp): Step =>
  update(
    windowKey(clientId),
    { set: { changedAt: at }, add: { availableMinor: less(ZERO, net), reversedSweptMinor: net } },
    contains('recreditedIds', id),
  )

/** Draws recredited funds for the settlement that pays them out after all; each recredit is drawn once. */
export const redrawStep = (
  clientId: ClientId,
  drawn: { failedId: SettlementId; id: SettlementId; net: Minor; at: Timestamp },
): Step =>
  update(
    windowKey(clientId),
    {
      set: { changedAt: drawn.at },
      add: {
        availableMinor: less(ZERO, drawn.net),
        inSettlementMinor: drawn.net,
        openIds: new Set([drawn.id]),
      },
      deleteFromSet: { recreditedIds: new Set([drawn.failedId]) },
    },
    all(exists, contains('recreditedIds', drawn.failedId)),
  )
