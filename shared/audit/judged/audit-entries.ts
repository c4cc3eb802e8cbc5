import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { type Entry, isBalanced } from '../../journal/entry.ts'
import { entryRow, parseEntry } from '../../journal/entry-store.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { adjustmentEntry } from '../../posting/adjust-ledger.ts'
import type { Adjustment } from '../../posting/adjustment-store.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { recreditEntry } from '../../settlement/close-settlement.ts'
import { returnedEntry } from '../../settlement/return-payout.ts'
import type { Item } from '../../table/attributes.ts'
import { entryKey, paymentKey } from '../../table/keys.ts'
import type { Reads } from '../../table/table.ts'
import { compare, type Difference, onlyIf, tryToMake } from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import type { ClientBooks } from './client-books.ts'
import { auditOwners } from './derive-payment.ts'
import { auditAdjusted } from './judge-legs.ts'

/** Entries as they are stored: an unreadable one is a difference and hides no other. */
export type JournalReading = {
  readonly read: (item: Item) => Entry | undefined
  readonly itemOf: (entry: Entry) => Item | undefined
}

/** Derives each entry from its source: a payment, a settlement, or an adjustment. */
export async function auditEntries(
  deps: StoreDeps,
  books: ClientBooks,
  {
    entries,
    itemOf,
    reads,
  }: { readonly entries: readonly Entry[]; readonly reads?: Reads } & Pick<
    JournalReading,
    'itemOf'
  >,
) {
  const paymentIds = [...new Set(entries.flatMap(({ paymentId }) => paymentId ?? []))]
  const items = await deps.table.getMany(paymentIds.map(paymentKey), reads)
  const payments = new Map(paymentIds.map((id, at) => [id, ifValid(PaymentSchema, items[at])]))
  const owners = await auditOwners(
    deps,
    [...payments.values()].flatMap((payment) => payment ?? []),
  )
  const seenIds = new Set<string>()
  const isAs = (expected: Entry, entry: Entry) =>
    rowDifferences('entry', entry.entryId, entryRow(expected), itemOf(entry))
  const auditSource = (entry: Entry): readonly Difference[] => {
    const { entryId: id, paymentId, type } = entry
    if (paymentId !== undefined) {
      const payment = payments.get(paymentId)
      if (payment === undefined) return compare('entry.payment_id', id, 'a payment', paymentId)
      const expected = tryToMake(() => entriesOf(payment))?.find(({ entryId }) => entryId === id)
      return [
        ...compare('payment.client_id', payment.paymentId, books.clientId, payment.clientId),
        ...(owners.get(paymentId) ?? []),
        ...(expected === undefined
          ? compare('entry', id, `one of payment ${payment.paymentId}`, type)
          : isAs(expected, entry)),
      ]
    }
    if (type === 'recredit' || type === 'returned') {
      const expected = settlementSource(books, entry)
      return 'entryId' in expected ? isAs(expected, entry) : expected
    }
    const adjustment = books.adjustments.find(({ entryId }) => entryId === id)
    return adjustment
      ? isAs(entryOfAdjustment(adjustment, entry), entry)
      : compare('entry', id, 'one of an adjustment', type)
  }
  return entries.flatMap((entry) => {
    const isRepeated = seenIds.has(entry.entryId)
    seenIds.add(entry.entryId)
    return [
      ...onlyIf(isRepeated, compare('entry', entry.entryId, 'once', 'twice')),
      ...onlyIf(
        tryToMake(() => isBalanced(entry)) !== true,
        compare('entry.sides', entry.entryId, 'equal', 'not equal'),
      ),
      ...auditAdjusted(
        entry,
        books.adjustments.find(({ entryId }) => entryId === entry.entryId)?.amountMinor,
      ),
      ...auditSource(entry),
    ]
  })
}

export function readingInto(differences: Difference[]): JournalReading {
  const items = new WeakMap<Entry, Item>()
  const read = (item: Item): Entry | undefined => {
    const entry = tryToMake(() => parseEntry(item))
    const id = String(item['sk']).split('#')[1] ?? ''
    if (entry === undefined) differences.push(...compare('entry', id, 'readable', 'unreadable'))
    else items.set(entry, item)
    return entry
  }
  return { read, itemOf: (entry) => items.get(entry) }
}

/** A re-credit replaces a settlement that failed, a return a transfer that came back. */
function settlementSource(
  { settlements }: ClientBooks,
  entry: Entry,
): Entry | readonly Difference[] {
  const { entryId: id, recreditedSettlementId, returnedSettlementId } = entry
  const isReturn = entry.type === 'returned'
  const sourceId = isReturn ? returnedSettlementId : recreditedSettlementId
  const source = settlements.find(({ settlement: { settlementId } }) => settlementId === sourceId)
  const at = isReturn ? source?.settlement.returnedAt : source?.settlement.recreditedAt
  if (source === undefined || at === undefined) {
    return compare(
      isReturn ? 'entry.returned_settlement_id' : 'entry.recredited_settlement_id',
      id,
      isReturn ? 'a payout that was returned' : 'a settlement that was re-credited',
      sourceId,
    )
  }
  return (
    tryToMake(() => (isReturn ? returnedEntry : recreditEntry)(source.settlement, at)) ??
    compare('settlement', source.settlement.settlementId, 'figures that add up', 'different')
  )
}

/** Only the house journal has the provider's amount of a row that an operator took over. */
function entryOfAdjustment(adjustment: Adjustment, found: Entry | undefined): Entry {
  const { kind, providerTransactionId } = adjustment
  const hasRow = kind === 'correction' && providerTransactionId !== undefined
  return adjustmentEntry(adjustment, hasRow ? found : undefined)
}

/** Every adjustment has its entry. */
export async function auditAdjustments(
  deps: StoreDeps,
  { clientId, adjustments }: Pick<ClientBooks, 'clientId' | 'adjustments'>,
) {
  const items = await deps.table.getMany(
    adjustments.map((adjustment) => entryKey(clientId, adjustment)),
  )
  return adjustments.flatMap((adjustment, at) => {
    const item = items[at]
    const stored = item && tryToMake(() => parseEntry(item))
    const { reference, entryId } = adjustment
    return item === undefined
      ? compare('entry', entryId, `that of adjustment ${reference}`, 'missing')
      : rowDifferences('entry', entryId, entryRow(entryOfAdjustment(adjustment, stored)), item)
  })
}
