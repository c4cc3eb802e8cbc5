import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { ENTRY_SIDES, type Entry, fieldsText, isBalanced } from '../../journal/entry.ts'
import { findEntry } from '../../journal/entry-store.ts'
import { ZERO } from '../../money.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { type Adjustment, AdjustmentSchema } from '../../posting/adjustment-store.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { recreditEntry } from '../../settlement/close-settlement.ts'
import { attributeName, FromItem } from '../../table/attributes.ts'
import { paymentKey } from '../../table/keys.ts'
import {
  compare,
  compareAll,
  type Difference,
  onlyIf,
  tryToMake,
} from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'
import { auditOwners } from './derive-payment.ts'

const FIELDS = ['type', 'eligibleAt', 'postedAt', ...ENTRY_SIDES, 'providerTransactionId'] as const

/**
 * Compares each entry with itself and with its source: a payment, a settlement, or an adjustment.
 */
export async function auditEntries(deps: StoreDeps, books: ClientBooks, entries: readonly Entry[]) {
  const paymentIds = [...new Set(entries.flatMap(({ paymentId }) => paymentId ?? []))]
  const items = await deps.table.getMany(paymentIds.map(paymentKey))
  const payments = new Map(paymentIds.map((id, at) => [id, ifValid(PaymentSchema, items[at])]))
  const owners = await auditOwners(
    deps,
    [...payments.values()].flatMap((payment) => payment ?? []),
  )
  const adjustments = recordedAdjustments(books.clientRecords)
  const seenIds = new Set<string>()
  const auditSource = (entry: Entry): readonly Difference[] => {
    const { entryId: id, paymentId, type } = entry
    if (paymentId !== undefined) {
      const payment = payments.get(paymentId)
      if (payment === undefined) return compare('entry.payment_id', id, 'a payment', paymentId)
      const expected = entriesOf(payment).find(({ entryId }) => entryId === id)
      return [
        ...compare('payment.client_id', payment.paymentId, books.clientId, payment.clientId),
        ...(owners.get(paymentId) ?? []),
        ...(expected === undefined
          ? compare('entry', id, `one of payment ${payment.paymentId}`, type)
          : compareEntries(expected, entry)),
      ]
    }
    if (type === 'recredit') return auditRecredit(books, entry)
    const adjustment = adjustments.find(({ entryId }) => entryId === id)
    return adjustment
      ? compareAdjustment(adjustment, entry)
      : compare('entry', id, 'one of a recorded adjustment', type)
  }
  return entries.flatMap((entry) => {
    const isRepeated = seenIds.has(entry.entryId)
    seenIds.add(entry.entryId)
    return [
      ...onlyIf(isRepeated, compare('entry', entry.entryId, 'once', 'twice')),
      ...onlyIf(
        !isBalanced(entry),
        compare('entry.house_minor', entry.entryId, 'equal sides', entry.houseMinor),
      ),
      ...auditSource(entry),
    ]
  })
}

/** `source`: what a missing entry belongs to. */
export function compareEntries(
  expected: Entry,
  found: Entry | undefined,
  source?: string,
): readonly Difference[] {
  if (found === undefined) return compare('entry', expected.entryId, source, 'missing')
  if (fieldsText(expected) === fieldsText(found)) return []
  const differences = FIELDS.flatMap((field) =>
    compare(`entry.${attributeName(field)}`, found.entryId, expected[field], found[field]),
  )
  return differences.length > 0
    ? differences
    : compare('entry', found.entryId, 'as its payment says', 'different')
}

/** A re-credit replaces a settlement that failed. */
function auditRecredit({ settlements }: ClientBooks, entry: Entry): readonly Difference[] {
  const { entryId: id, recreditedSettlementId } = entry
  const source = settlements.find(
    ({ settlement: { settlementId } }) => settlementId === recreditedSettlementId,
  )
  const at = source?.settlement.recreditedAt
  if (source === undefined || at === undefined) {
    return compare(
      'entry.recredited_settlement_id',
      id,
      'a settlement that was re-credited',
      recreditedSettlementId,
    )
  }
  const expected = tryToMake(() => recreditEntry(source.settlement, at))
  return expected
    ? compareEntries(expected, entry)
    : compare('settlement', source.settlement.settlementId, 'figures that add up', 'different')
}

type RecordedAdjustment = Omit<Adjustment, 'clientId'>

const absent = () => undefined

/** The record of an adjustment in the client's chain, which says all of it. */
const AdjustmentRecord = v.pipe(
  FromItem,
  v.object({
    ...v.omit(AdjustmentSchema, ['clientId', 'providerTransactionId', 'notes']).entries,
    providerTransactionId: v.nullish(v.string(), absent),
    notes: v.nullish(v.string(), absent),
  }),
)

function recordedAdjustments(records: readonly AuditRecord[]): readonly RecordedAdjustment[] {
  return records.flatMap(({ action, after }) =>
    action === 'adjust-ledger' ? (ifValid(AdjustmentRecord, after) ?? []) : [],
  )
}

function compareAdjustment(adjustment: RecordedAdjustment, entry: Entry | undefined) {
  const { reference, entryId, kind, amountMinor, eligibleAt } = adjustment
  if (entry === undefined)
    return compare('entry', entryId, `that of adjustment ${reference}`, 'missing')
  return compareAll('entry', entryId, [
    ['type', kind, entry.type],
    ['net_minor', amountMinor, entry.netMinor],
    ['gross_minor', amountMinor, entry.grossMinor],
    ['bank_minor', kind === 'recovered' ? amountMinor : ZERO, entry.bankMinor],
    ['eligible_at', eligibleAt, entry.eligibleAt],
    ['posted_at', eligibleAt, entry.postedAt],
    ['adjustment_reference', reference, entry.adjustmentReference],
    ['provider_transaction_id', adjustment.providerTransactionId, entry.providerTransactionId],
  ])
}

/** Compares every recorded adjustment with its row and its entry. No row is unrecorded. */
export async function auditAdjustments(
  deps: StoreDeps,
  { clientId, adjustments, clientRecords }: ClientBooks,
) {
  const recorded = recordedAdjustments(clientRecords)
  const references = new Set(recorded.map(({ reference }) => reference))
  const found = await Promise.all(
    recorded.map(async (adjustment) => [
      ...compareAdjustmentRow(
        adjustment,
        adjustments.find(({ reference }) => reference === adjustment.reference),
      ),
      ...compareAdjustment(adjustment, await findEntry(deps, clientId, adjustment)),
    ]),
  )
  const unrecorded = adjustments.filter(({ reference }) => !references.has(reference))
  return [
    ...found.flat(),
    ...unrecorded.flatMap(({ reference }) =>
      compare('adjustment', reference, 'recorded', 'not recorded'),
    ),
  ]
}

function compareAdjustmentRow(recorded: RecordedAdjustment, stored: Adjustment | undefined) {
  const { reference } = recorded
  if (stored === undefined) return compare('adjustment', reference, 'present', 'missing')
  return compareAll('adjustment', reference, [
    ['kind', recorded.kind, stored.kind],
    ['amount_minor', recorded.amountMinor, stored.amountMinor],
    ['entry_id', recorded.entryId, stored.entryId],
    ['eligible_at', recorded.eligibleAt, stored.eligibleAt],
    ['provider_transaction_id', recorded.providerTransactionId, stored.providerTransactionId],
    ['notes', recorded.notes, stored.notes],
  ])
}
