import type { Deps } from '../../deps.ts'
import type { ClientId, SettlementId } from '../../ids.ts'
import { type Entry, isForClient } from '../../journal/entry.ts'
import { readEntries } from '../../journal/entry-store.ts'
import { readWindow } from '../../ledger/window-store.ts'
import { addMs, DAY_MS, type Timestamp } from '../../time.ts'
import { isLeftOut, type Settlement } from '../settlement.ts'
import { settlementsBetween } from '../settlement-store.ts'
import { entryCursor, positionIn } from './entry-cursor.ts'
import { toEntryDto } from './entry-dto.ts'
import type { EntryPageDto } from './settlement-entries.ts'

/** An entry of a payment that was just posted is eligible a day later. */
const FURTHEST_MS = 2 * DAY_MS

/** No settlement took an entry that was left out; one takes its re-credit. */
const takenBy = (settlements: readonly Settlement[], entry: Entry): SettlementId | undefined => {
  const { eligibleAt } = entry
  const found = settlements.find(({ sweptFrom, sweptUntil }) => sweptFrom <= eligibleAt && eligibleAt < sweptUntil)
  return found && !isLeftOut(found)(entry) ? found.settlementId : undefined
}

/**
 * A page of a client's journal from a time on, settled or not (design section 8). A page costs its own entries and one
 * query of settlements. It is no feed: earlier rows may be written later. Throws 422 for a foreign cursor.
 */
export const balanceEntries = async (
  deps: Pick<Deps, 'stage' | 'table' | 'now'>,
  {
    clientId,
    since,
    after: cursor,
    limit,
  }: {
    readonly clientId: ClientId
    readonly since: Timestamp
    readonly after?: string | undefined
    readonly limit: number
  },
): Promise<EntryPageDto> => {
  const span = { start: since, end: addMs(deps.now(), FURTHEST_MS) }
  const after = cursor === undefined ? undefined : positionIn({ of: clientId, span }, cursor, 'after')
  const { parts, settledUntil } = await readWindow(deps, clientId)
  const { entries, next } = await readEntries(deps, { clientId, parts, span, after, limit }, isForClient)
  const [first, last] = [entries[0], entries.at(-1)]
  const settlements =
    first && last && first.eligibleAt < settledUntil
      ? await settlementsBetween(deps, clientId, { start: first.eligibleAt, end: last.eligibleAt })
      : []
  return {
    entries: entries.map((entry) => toEntryDto(entry, takenBy(settlements, entry))),
    next: next && entryCursor(clientId, next),
  }
}
