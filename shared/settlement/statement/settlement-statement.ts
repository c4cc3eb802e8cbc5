import type { Deps } from '../../deps.ts'
import type { Entry } from '../../journal/entry.ts'
import { readEntries } from '../../journal/entry-store.ts'
import { readParts } from '../../ledger/window-store.ts'
import { isLeftOut } from '../settlement.ts'
import { toSettlementDto } from '../settlement-dto.ts'
import { findAnySettlement } from '../settlement-store.ts'
import { csv } from './csv.ts'
import { entryCursor, positionIn } from './entry-cursor.ts'
import { ENTRY_COLUMNS, toEntryDto } from './entry-dto.ts'
import { sweptSpan } from './settlement-entries.ts'

/** Entries of one page, well below the limit of a Lambda's answer. */
const PAGE = 500

/** An entry as operators see it: the merchant's line, and when the provider settled its row. */
const toLine = (entry: Entry, settlementId: Parameters<typeof toEntryDto>[1]) => ({
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
  input: { readonly settlementId: string; readonly cursor: string | undefined; readonly format: 'json' | 'csv' },
) => {
  const settlement = await findAnySettlement(deps, input.settlementId)
  const { settlementId: of, clientId } = settlement
  const span = sweptSpan(settlement)
  const after = input.cursor === undefined ? undefined : positionIn({ of, span }, input.cursor, 'cursor')
  const parts = await readParts(deps, clientId)
  const isOutside = isLeftOut(settlement)
  const range = { clientId, parts, span, after, limit: PAGE }
  const { entries, next } = await readEntries(deps, range, (entry) => !isOutside(entry))
  const lines = entries.map((entry) => toLine(entry, of))
  return {
    settlement: toSettlementDto(settlement),
    totals: {
      gross_minor: settlement.grossMinor,
      xendit_fees_minor: settlement.providerFeesMinor,
      hexolus_markup_minor: settlement.markupMinor,
      net_minor: settlement.netMinor,
      payment_count: settlement.paymentCount,
      entry_count: settlement.entryCount,
      unproven_minor: settlement.unprovenMinor,
    },
    ...(input.format === 'csv' ? { csv: csv(COLUMNS, lines.map(withoutNulls)) } : { entries: lines }),
    cursor: next ? entryCursor(of, next) : null,
  }
}

type Line = ReturnType<typeof toLine>

const withoutNulls = (line: Line) => ({
  ...line,
  settlement_id: line.settlement_id ?? undefined,
  provider_transaction_id: line.provider_transaction_id ?? undefined,
  provider_settled_at: line.provider_settled_at ?? undefined,
})
