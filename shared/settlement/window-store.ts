import * as v from 'valibot'
import { type Client, windowBornAt } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import type { ClientId, SettlementId } from '../ids.ts'
import { type Window, WindowSchema } from '../ledger/ledger-store.ts'
import { less, type Minor, ZERO } from '../money.ts'
import { all, contains, equals, exists } from '../table/condition.ts'
import { windowKey } from '../table/keys.ts'
import { getItem } from '../table/read.ts'
import { type Step, update } from '../table/step.ts'
import type { Timestamp } from '../time.ts'

/** A client's window: how far its payments have been swept. Born with the client. */
export const readWindow = async (
  deps: Pick<Deps, 'table' | 'sleep' | 'random'>,
  clientId: ClientId,
): Promise<Window> => {
  const item = await getItem(deps, windowKey(clientId))
  assertInvariant(item !== undefined, 'a client has no settlement window')
  return v.parse(WindowSchema, item)
}

/**
 * Where the next sweep begins. An older release let windows begin with their client, and a machine whose clock was
 * behind may have put a first payment before it: such a window, if nothing was ever swept, begins earlier.
 */
export const sweptUntil = (client: Pick<Client, 'createdAt'>, { settledUntil, changedAt }: Window): Timestamp =>
  changedAt === undefined && settledUntil === client.createdAt ? windowBornAt(client) : settledUntil

/**
 * Moves the window forward over a swept span. Available gains the net by the roll and loses it by the record in the
 * same transaction, so it stays as it is (design section 5). Refused when somebody else moved the window meanwhile.
 */
export const sweepStep = (
  clientId: ClientId,
  /** `stood`: where the window stood when it was read. */
  swept: { stood: Timestamp; until: Timestamp; net: Minor; at: Timestamp },
): Step =>
  update(
    windowKey(clientId),
    { set: { settledUntil: swept.until, changedAt: swept.at }, add: { settledMinor: swept.net } },
    equals('settledUntil', swept.stood),
  )

/** The net of a failed settlement goes back to available, where it waits to be recorded again. */
export const recreditStep = (clientId: ClientId, id: SettlementId, net: Minor, at: Timestamp): Step =>
  update(
    windowKey(clientId),
    { set: { changedAt: at }, add: { availableMinor: net, recreditedIds: new Set([id]) } },
    exists,
  )

/** Draws recredited funds for the settlement that pays them out after all; each recredit is drawn once. */
export const redrawStep = (clientId: ClientId, id: SettlementId, net: Minor, at: Timestamp): Step =>
  update(
    windowKey(clientId),
    {
      set: { changedAt: at },
      add: { availableMinor: less(ZERO, net) },
      deleteFromSet: { recreditedIds: new Set([id]) },
    },
    all(exists, contains('recreditedIds', id)),
  )
