import type { SettlementId } from '../../ids.ts'
import type { Entry } from '../../journal/entry.ts'
import type { EntryDto } from './entry-dto-schema.ts'

/** An entry as its merchant sees it (design section 8). */
export const toEntryDto = (entry: Entry, settlementId: SettlementId | undefined): EntryDto => ({
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

/** An entry as cells of a CSV line. */
export const toCells = (line: EntryDto) => ({ ...line, settlement_id: line.settlement_id ?? undefined })

/** The columns of a page of entries as CSV. */
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
