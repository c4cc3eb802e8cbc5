import type { Deps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { type Entry, isForClient } from '../../journal/entry.ts'
import { readEntries, type Span } from '../../journal/entry-store.ts'
import { readParts } from '../../ledger/window-store.ts'
import { isLeftOut, type Settlement } from '../settlement.ts'
import { findSettlement } from '../settlement-store.ts'
import { entryCursor, positionIn } from './entry-cursor.ts'
import { toEntryDto } from './entry-dto.ts'
import type { EntryDto } from './entry-dto-schema.ts'

type Asked = { readonly after?: string | undefined; readonly limit: number }

export type EntryPageDto = {
  readonly entries: readonly EntryDto[]
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined
}

export const sweptSpan = ({ sweptFrom: start, sweptUntil: end }: Settlement): Span => ({ start, end })

/**
 * A page of the entries that a client's settlement pays out; their sums are the settlement's. A page costs its own
 * entries at any position, and reads no payment. Throws 404 as `findSettlement` does, and 422 for a cursor of another
 * settlement.
 */
export const settlementEntries = async (
  deps: Pick<Deps, 'stage' | 'table'>,
  { clientId, id, after: cursor, limit }: Asked & { readonly clientId: ClientId; readonly id: string },
): Promise<EntryPageDto> => {
  const settlement = await findSettlement(deps, clientId, id)
  const { settlementId: of } = settlement
  const span = sweptSpan(settlement)
  const after = cursor === undefined ? undefined : positionIn({ of, span }, cursor, 'after')
  const parts = await readParts(deps, clientId)
  const isOutside = isLeftOut(settlement)
  const isShown = (entry: Entry) => isForClient(entry) && !isOutside(entry)
  const { entries, next } = await readEntries(deps, { clientId, parts, span, after, limit }, isShown)
  return { entries: entries.map((entry) => toEntryDto(entry, of)), next: next && entryCursor(of, next) }
}
