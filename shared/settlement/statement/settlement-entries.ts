import * as v from 'valibot'
import type { Deps } from '../../deps.ts'
import { type ClientId, type SettlementId, UuidSchema } from '../../ids.ts'
import { type Entry, isForClient } from '../../journal/entry.ts'
import type { EntryPosition } from '../../journal/entry-store.ts'
import { readEntries, type Span } from '../../journal/read-entries.ts'
import { readParts, readWindow } from '../../ledger/window-store.ts'
import { CursorTime, encodeCursor, readCursor } from '../../page.ts'
import { addMs, DAY_MS, type Timestamp } from '../../time.ts'
import { hasSwept, isLeftOut, type Settlement } from '../settlement.ts'
import { toSettlementDto } from '../settlement-dto.ts'
import { findAnySettlement, findSettlement, settlementsBetween } from '../settlement-store.ts'
import { csv } from './csv.ts'
import type { EntryDto } from './entry-dto-schema.ts'

type Asked = { readonly after?: string | undefined; readonly limit: number }

export const sweptSpan = ({ sweptFrom: start, sweptUntil: end }: Settlement): Span => ({ start, end })

/** A page of a settlement's entries, and the cursor of the next one. `field`: the request's name of the cursor. */
const pageOf = async (
  deps: Pick<Deps, 'stage' | 'table'>,
  settlement: Settlement,
  { after: cursor, limit, field }: Asked & { readonly field?: 'after' },
  isWanted: (entry: Entry) => boolean,
) => {
  const { settlementId: of, clientId } = settlement
  const span = sweptSpan(settlement)
  const after = readCursor(positionIn(of, span), cursor, field)
  const parts = await readParts(deps, clientId)
  const isOutside = isLeftOut(settlement)
  const isShown = (entry: Entry) => isWanted(entry) && !isOutside(entry)
  const { entries, next } = await readEntries(deps, { clientId, parts, span, after, limit }, isShown)
  return { entries, next: next && entryCursor(of, next) }
}

/**
 * A page of the entries that a client's settlement pays out; their sums are the settlement's. A page costs its own
 * entries at any position. Throws 404, and 422 for a cursor of another settlement.
 */
export const settlementEntries = async (
  deps: Pick<Deps, 'stage' | 'table'>,
  { clientId, id, ...asked }: Asked & { readonly clientId: ClientId; readonly id: string },
) => {
  const settlement = await findSettlement(deps, clientId, id)
  const { entries, next } = await pageOf(deps, settlement, { ...asked, field: 'after' }, isForClient)
  return { entries: entries.map((entry) => toEntryDto(entry, settlement.settlementId)), next }
}

/** Where a page of entries ended, and of which settlement or client's journal. */
const entryCursor = (of: string, { eligibleAt, entryId }: EntryPosition): string =>
  encodeCursor({ of, eligible_at: eligibleAt, id: entryId })

/** Of this settlement or journal, and in the span: DynamoDB refuses a start outside it with its own error. */
const positionIn = (of: string, { start, end }: Span) =>
  v.pipe(
    v.strictObject({ of: v.literal(of), eligible_at: CursorTime, id: UuidSchema }),
    v.check(({ eligible_at: at }) => start <= at && at < end),
    v.transform(({ eligible_at: eligibleAt, id: entryId }) => ({ eligibleAt, entryId })),
  )

const toEntryDto = (entry: Entry, settlementId: SettlementId | undefined): EntryDto => ({
  id: entry.entryId,
  type: entry.type,
  payment_id: entry.paymentId,
  recredited_settlement_id: entry.recreditedSettlementId,
  settlement_id: settlementId ?? null,
  external_reference: entry.externalReference,
  method: entry.method,
  channel_code: entry.channelCode,
  paid_at: entry.paidAt,
  posted_at: entry.postedAt,
  notional_minor: entry.grossMinor,
  xendit_fee_minor: entry.feeMinor,
  hexolus_markup_minor: entry.markupMinor,
  client_net_minor: entry.netMinor,
})

export const ENTRY_COLUMNS = [
  'id',
  'type',
  'payment_id',
  'recredited_settlement_id',
  'settlement_id',
  'external_reference',
  'method',
  'channel_code',
  'paid_at',
  'posted_at',
  'notional_minor',
  'xendit_fee_minor',
  'hexolus_markup_minor',
  'client_net_minor',
] as const satisfies readonly (keyof EntryDto)[]

/** An entry of a payment that was just posted is eligible a day later. */
const FURTHEST_MS = 2 * DAY_MS

/** No settlement took an entry that was left out; one takes its re-credit. */
const takenBy = (settlements: readonly Settlement[], entry: Entry): SettlementId | undefined => {
  const found = settlements.find((settlement) => hasSwept(settlement, entry.eligibleAt))
  return found && !isLeftOut(found)(entry) ? found.settlementId : undefined
}

/**
 * A page of a client's journal from a time on, settled or not (design section 8). A page costs its own entries and one
 * query of settlements. It is no feed: earlier rows may be written later. Throws 422 for a foreign cursor.
 */
export const balanceEntries = async (
  deps: Pick<Deps, 'stage' | 'table' | 'now'>,
  { clientId, since, after: cursor, limit }: Asked & { readonly clientId: ClientId; readonly since: Timestamp },
) => {
  const span = { start: since, end: addMs(deps.now(), FURTHEST_MS) }
  const after = readCursor(positionIn(clientId, span), cursor, 'after')
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

/** Entries of one page, well below the limit of a Lambda's answer. */
const PAGE = 500

/** An entry as operators see it: the merchant's line, and when the provider settled its row. */
const toLine = (entry: Entry, settlementId: SettlementId) => ({
  ...toEntryDto(entry, settlementId),
  provider_transaction_id: entry.providerTransactionId ?? null,
  provider_settled_at: entry.providerSettledAt ?? null,
})

const COLUMNS = [...ENTRY_COLUMNS, 'provider_transaction_id', 'provider_settled_at'] as const

/**
 * The entries of a settlement, in pages (design section 7), including zeros for the client, which have a side at the
 * provider. A page costs only its own entries; the totals are the settlement's.
 */
export const settlementStatement = async (
  deps: Pick<Deps, 'table' | 'stage'>,
  input: { readonly settlementId: string; readonly cursor?: string | undefined; readonly format: 'json' | 'csv' },
) => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  const { entries, next } = await pageOf(deps, settlement, { after: input.cursor, limit: PAGE }, () => true)
  const lines = entries.map((entry) => toLine(entry, settlement.settlementId))
  const shown = toSettlementDto(settlement)
  const { gross_minor, xendit_fees_minor, hexolus_markup_minor, net_minor, payment_count } = shown
  const sums = { gross_minor, xendit_fees_minor, hexolus_markup_minor, net_minor, payment_count }
  return {
    settlement: shown,
    totals: { ...sums, entry_count: settlement.entryCount, unproven_minor: settlement.unprovenMinor },
    ...(input.format === 'csv' ? { csv: csv(COLUMNS, lines) } : { entries: lines }),
    cursor: next ?? null,
  }
}
