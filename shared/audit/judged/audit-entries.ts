import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { ENTRY_SIDES, type Entry, fieldsText, isBalanced } from '../../journal/entry.ts'
import { findEntry } from '../../journal/entry-store.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import type { Adjustment } from '../../posting/adjustment-store.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { recreditEntry } from '../../settlement/close-settlement.ts'
import { attributeName } from '../../table/attributes.ts'
import { paymentKey } from '../../table/keys.ts'
import {
  compare,
  compareAll,
  type Difference,
  onlyIf,
  tryToMake,
} from '../../verdict/difference.ts'
import { auditOwners } from './audit-payment.ts'
import type { ClientBooks } from './client-books.ts'

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
    const adjustment = books.adjustments.find(({ entryId }) => entryId === id)
    return adjustment
      ? compareAdjustment(adjustment, entry)
      : compare('entry', id, 'one of an adjustment', type)
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

function compareAdjustment({ reference, ...adjustment }: Adjustment, entry: Entry | undefined) {
  return entry === undefined
    ? compare('entry', adjustment.entryId, `that of adjustment ${reference}`, 'missing')
    : compareAll('entry', entry.entryId, [
        ['type', adjustment.kind, entry.type],
        ['net_minor', adjustment.amountMinor, entry.netMinor],
        ['eligible_at', adjustment.eligibleAt, entry.eligibleAt],
        ['provider_transaction_id', adjustment.providerTransactionId, entry.providerTransactionId],
      ])
}

/** Every adjustment has its entry and its record, and every record its adjustment. */
export async function auditAdjustments(
  deps: StoreDeps,
  { clientId, adjustments, clientRecords }: ClientBooks,
) {
  const references = new Set(
    clientRecords.flatMap(({ action, after }) => {
      const reference = action === 'adjust-ledger' && after?.['reference']
      return typeof reference === 'string' ? reference : []
    }),
  )
  const lost = references.difference(new Set(adjustments.map(({ reference }) => reference)))
  const found = await Promise.all(
    adjustments.map(async (adjustment) => [
      ...onlyIf(
        !references.has(adjustment.reference),
        compare('adjustment', adjustment.reference, 'recorded', 'not recorded'),
      ),
      ...compareAdjustment(adjustment, await findEntry(deps, clientId, adjustment)),
    ]),
  )
  return [
    ...found.flat(),
    ...[...lost].flatMap((reference) => compare('adjustment', reference, 'present', 'missing')),
  ]
}
