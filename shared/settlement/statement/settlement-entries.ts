import * as v from 'valibot'
import type { Deps, JournalDeps } from '../../deps.ts'
import { type ClientId, type SettlementId, UuidSchema } from '../../ids.ts'
import { FURTHEST_ELIGIBLE_MS } from '../../journal/day-totals.ts'
import { type Entry, isForClient, settledFigures } from '../../journal/entry.ts'
import { readEntries, type Span } from '../../journal/read-entries.ts'
import { readWindow } from '../../ledger/window-store.ts'
import { CursorTime, encodeCursor, readCursor } from '../../page.ts'
import { addMs, type Timestamp } from '../../time.ts'
import { ELIGIBLE_AGE_MS, type Settlement } from '../settlement.ts'
import { toSettlementDto } from '../settlement-dto.ts'
import { findAnySettlement, findSettlement, sweepsFrom } from '../settlement-store.ts'
import { csv } from './csv.ts'
import type { EntryDto } from './entry-dto-schema.ts'

type PageRequest = { readonly after?: string | undefined; readonly limit: number }

/**
 * The entries' sums are the settlement's. Throws 404, and 422 for a cursor of another settlement.
 */
export async function settlementEntries(
  deps: JournalDeps,
  { clientId, id, ...asked }: PageRequest & { readonly clientId: ClientId; readonly id: string },
) {
  const settlement = await findSettlement(deps, clientId, id)
  const { entries, next } = await pageOf(deps, journalOf(settlement), asked, isForClient)
  return { entries: entries.map((entry) => toSettledDto(entry, settlement.settlementId)), next }
}

function journalOf(settlement: Settlement) {
  return { ...settlement, ownerId: settlement.settlementId, span: sweptSpan(settlement) }
}

export function sweptSpan({ sweptFrom: start, sweptUntil: end }: Settlement): Span {
  return { start, end }
}

/**
 * A cursor names its owner and a place in the span, because DynamoDB refuses a place outside the
 * span with its own error. `field`: the request's name of the cursor.
 */
async function pageOf(
  deps: JournalDeps,
  journal: { readonly ownerId: string; readonly clientId: ClientId; readonly span: Span },
  { after: cursor, limit, field = 'after' }: PageRequest & { readonly field?: 'after' | 'cursor' },
  isShown: (entry: Entry) => boolean,
) {
  const { ownerId, clientId, span } = journal
  const position = v.pipe(
    v.strictObject({ of: v.literal(ownerId), eligible_at: CursorTime, id: UuidSchema }),
    v.check(({ eligible_at: at }) => span.start <= at && at < span.end),
    v.transform(({ eligible_at: eligibleAt, id: entryId }) => ({ eligibleAt, entryId })),
  )
  const after = readCursor(position, cursor, field)
  const { entries, next } = await readEntries(deps, { clientId, span, after, limit }, isShown)
  return {
    entries,
    next: next && encodeCursor({ of: ownerId, eligible_at: next.eligibleAt, id: next.entryId }),
  }
}

/** Of a re-credit, the settlement's sums have what it carries. */
function toSettledDto(entry: Entry, settlementId: SettlementId) {
  return toEntryDto({ ...entry, ...settledFigures(entry), carried: undefined }, settlementId)
}

function toEntryDto(entry: Entry, settlementId: SettlementId | undefined): EntryDto {
  return {
    id: entry.entryId,
    type: entry.type,
    payment_id: entry.paymentId,
    recredited_settlement_id: entry.recreditedSettlementId,
    returned_settlement_id: entry.returnedSettlementId,
    settlement_id: settlementId ?? null,
    external_reference: entry.externalReference,
    method: entry.method,
    channel_code: entry.channelCode,
    paid_at: entry.paidAt,
    posted_at: entry.postedAt,
    eligible_at: entry.eligibleAt,
    notional_minor: entry.grossMinor,
    xendit_fee_minor: entry.feeMinor,
    hexolus_markup_minor: entry.markupMinor,
    client_net_minor: entry.netMinor,
    carried_minor: entry.carried?.netMinor,
  }
}

/**
 * A page of a client's journal from a time on, settled or not (design section 8). A page costs its
 * own entries and one query of settlements. The list is no feed: earlier entries may be written
 * later. Throws 422 for a foreign cursor.
 */
export async function balanceEntries(
  deps: Pick<Deps, 'stage' | 'table' | 'now'>,
  {
    clientId,
    since,
    ...asked
  }: PageRequest & { readonly clientId: ClientId; readonly since: Timestamp },
) {
  const span = { start: since, end: addMs(deps.now(), FURTHEST_ELIGIBLE_MS) }
  const journal = { ownerId: clientId, clientId, span }
  const { settledUntil, lastSettlementId } = await readWindow(deps, clientId)
  const { entries, next } = await pageOf(deps, journal, asked, isForClient)
  const start = entries[0]?.eligibleAt ?? settledUntil
  // Each settlement has an entry of the page, because windows are contiguous and never empty.
  const sweeps =
    start < settledUntil ? await sweepsFrom(deps, clientId, { start, limit: entries.length }) : []
  return {
    entries: entries.map((entry) => {
      const { eligibleAt } = entry
      const time = addMs(eligibleAt, -ELIGIBLE_AGE_MS)
      const swept = sweeps.find(({ periodEnd }) => periodEnd > time)
      // What no listed settlement has swept, the last one has, whose index entry lags.
      const id = swept?.id ?? lastSettlementId
      return toEntryDto(entry, eligibleAt < settledUntil ? id : undefined)
    }),
    next,
  }
}

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
  'eligible_at',
  'notional_minor',
  'xendit_fee_minor',
  'hexolus_markup_minor',
  'client_net_minor',
  'carried_minor',
  'returned_settlement_id',
] as const satisfies readonly (keyof EntryDto)[]

/** Operators also see entries that move money only at the provider (design section 7). */
export async function settlementStatement(
  deps: JournalDeps,
  input: {
    readonly settlementId: string
    readonly cursor?: string | undefined
    readonly format: 'json' | 'csv'
  },
) {
  const settlement = await findAnySettlement(deps, input.settlementId)
  // A page is well below the size limit of a Lambda's answer.
  const page = { after: input.cursor, limit: 500, field: 'cursor' } as const
  const { entries, next } = await pageOf(deps, journalOf(settlement), page, () => true)
  const lines = entries.map((entry) => ({
    ...toSettledDto(entry, settlement.settlementId),
    provider_transaction_id: entry.providerTransactionId ?? null,
    provider_settled_at: entry.providerSettledAt ?? null,
  }))
  const columns = [...ENTRY_COLUMNS, 'provider_transaction_id', 'provider_settled_at'] as const
  const dto = toSettlementDto(settlement)
  const { gross_minor, xendit_fees_minor, hexolus_markup_minor, net_minor, payment_count } = dto
  return {
    settlement: dto,
    totals: {
      gross_minor,
      xendit_fees_minor,
      hexolus_markup_minor,
      net_minor,
      payment_count,
      entry_count: settlement.entryCount,
      unproven_minor: settlement.unprovenMinor,
    },
    ...(input.format === 'csv' ? { csv: csv(columns, lines) } : { entries: lines }),
    cursor: next ?? null,
  }
}
