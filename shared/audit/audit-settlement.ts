import type { Deps } from '../deps.ts'
import { type ClientId, timeOfUuid } from '../ids.ts'
import type { AuditRecord } from '../operator/audit-record-store.ts'
import { reversedSums, type Settlement } from '../settlement/settlement.ts'
import { attributeName, type Item } from '../table/attributes.ts'
import { timestampOf } from '../time.ts'
import { auditReversedOf, type ReversalBooks } from './audit-reversals.ts'
import { readTrail } from './audit-trail.ts'
import { breaks, type Difference, differs, shown } from './difference.ts'
import { noSums, type SettledSums, SUM_FIELDS } from './settled-sums.ts'

/** A settlement as the table has it, and as it was read. */
export type StoredSettlement = { readonly settlement: Settlement; readonly item: Item }

const auditSums = (settlement: Settlement, paid: SettledSums): readonly Difference[] => {
  const { settlementId: id, grossMinor, providerFeesMinor, markupMinor, netMinor } = settlement
  return [
    ...differs('settlement.net_minor', id, grossMinor - providerFeesMinor - markupMinor, netMinor),
    ...SUM_FIELDS.flatMap((field) => differs(`settlement.${attributeName(field)}`, id, paid[field], settlement[field])),
  ]
}

const auditPlace = ({ settlement, item }: StoredSettlement, clientId: ClientId): readonly Difference[] => {
  const { settlementId: id, createdAt, status } = settlement
  const due = status === 'recorded'
  return [
    ...differs('settlement.client_id', id, clientId, settlement.clientId),
    ...differs('settlement.id', id, id, shown(item['id'])),
    ...differs('settlement.period_end', id, shown(item['listedAt']), settlement.periodEnd),
    // The id begins with the time it was made.
    ...differs('settlement.created_at', id, timestampOf(timeOfUuid(id)), createdAt),
    // Only what is due is in the operators' list of payouts.
    ...differs('settlement.work', id, due ? 'payout' : undefined, shown(item['work'])),
    ...differs('settlement.due_at', id, due ? createdAt : undefined, shown(item['dueAt'])),
  ]
}

const textIn = (record: AuditRecord | undefined, field: string): string | undefined => {
  const value = record?.after?.[field]
  return typeof value === 'string' ? value : undefined
}

/** What became of it is what its audit records say; their order within a millisecond is chance. */
const closingDifferences = (settlement: Settlement, records: readonly AuditRecord[]): readonly Difference[] => {
  const id = settlement.settlementId
  const of = (action: string) => records.find((record) => record.action === action)
  const closed = of('mark-settlement-paid') ?? of('mark-settlement-failed')
  const recredited = of('recredit-settlement')
  return [
    ...differs('settlement.triggered_by', id, of('trigger-settlement') ? 'manual' : 'auto', settlement.triggeredBy),
    ...differs('settlement.status', id, textIn(closed, 'status') ?? 'recorded', settlement.status),
    ...differs('settlement.settled_at', id, textIn(closed, 'settled_at'), settlement.settledAt),
    ...differs('settlement.recredited_at', id, textIn(recredited, 'recredited_at'), settlement.recreditedAt),
    ...breaks('settlement.notes', id, textIn(closed, 'notes') !== settlement.notes, 'as recorded', 'otherwise'),
  ]
}

/** A settlement recorded again pays out the same window as the failed one it stands for. */
const auditReplaced = (settlement: Settlement, all: readonly Settlement[]): readonly Difference[] => {
  const { settlementId: id, replaces } = settlement
  if (replaces === undefined) return []
  const failed = all.find(({ settlementId }) => settlementId === replaces)
  return [
    ...breaks('settlement.replaces', id, failed === undefined, 'a settlement of this client', replaces),
    ...(failed
      ? [
          ...differs('settlement.period_start', id, failed.periodStart, settlement.periodStart),
          ...differs('settlement.period_end', id, failed.periodEnd, settlement.periodEnd),
        ]
      : []),
  ]
}

/** Its window's payments without those that went back of the settlements it stands for. */
const sumsOfChain = (settlement: Settlement, all: readonly Settlement[], paid: SettledSums): SettledSums => {
  let sums = paid
  let id = settlement.replaces
  for (let steps = 0; id !== undefined && steps < all.length; steps++) {
    const before = all.find(({ settlementId }) => settlementId === id)
    if (before === undefined) break
    const gone = reversedSums(before)
    sums = {
      grossMinor: sums.grossMinor - gone.grossMinor,
      providerFeesMinor: sums.providerFeesMinor - gone.providerFeesMinor,
      markupMinor: sums.markupMinor - gone.markupMinor,
      netMinor: sums.netMinor - gone.netMinor,
      paymentCount: sums.paymentCount - gone.paymentCount,
    }
    id = before.replaces
  }
  return sums
}

/** Everything that can be said of one settlement: its payments, its place, its audit records, its predecessor. */
export const auditSettlement = async (
  deps: Pick<Deps, 'table'>,
  stored: StoredSettlement,
  about: {
    readonly clientId: ClientId
    readonly all: readonly Settlement[]
    readonly books: ReversalBooks
    readonly paid: SettledSums | undefined
  },
): Promise<readonly Difference[]> => {
  const { settlement } = stored
  const { records, differences } = await readTrail(deps, settlement.settlementId)
  return [
    ...differences,
    ...auditSums(settlement, sumsOfChain(settlement, about.all, about.paid ?? noSums())),
    ...(await auditReversedOf(deps, settlement, about.books)),
    ...auditPlace(stored, about.clientId),
    ...closingDifferences(settlement, records),
    ...auditReplaced(settlement, about.all),
  ]
}
