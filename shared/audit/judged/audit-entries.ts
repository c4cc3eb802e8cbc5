import type { StoreDeps } from '../../deps.ts'
import type { ClientId, PaymentId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { type Entry, isBalanced } from '../../journal/entry.ts'
import { entryRow, parseEntry } from '../../journal/entry-store.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { adjustmentEntry } from '../../posting/adjust-ledger.ts'
import type { Adjustment } from '../../posting/adjustment-store.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { entryAgainOf } from '../../settlement/return-payout.ts'
import type { Item } from '../../table/attributes.ts'
import { entryKey, paymentKey } from '../../table/keys.ts'
import type { Reads } from '../../table/table.ts'
import {
  compare,
  type Difference,
  onlyIf,
  toValue,
  tryToMake,
  unreadableRow,
} from '../../verdict/difference.ts'
import { auditAdjusted } from '../rows/audit-legs.ts'
import { keyedDifferences, rowDifferences } from '../rows/row-differences.ts'
import type { ClientBooks } from './client-books.ts'
import { judgeOwn } from './judge-payments.ts'

type SourcesRead = Pick<ReturnType<typeof readingInto>, 'itemOf'> & {
  readonly entries: readonly Entry[]
  readonly reads?: Reads
  /** Judges the events of the payments too, which are read so. */
  readonly eventReads?: Reads | undefined
}

/**
 * Derives each entry from its source: a payment, a settlement, or an adjustment. A payment derives
 * all its entries, so an entry that is lost is a difference too.
 */
export async function auditEntries(
  deps: StoreDeps,
  books: ClientBooks,
  { entries, ...read }: SourcesRead,
) {
  const { clientId, adjustments } = books
  const named = entries.flatMap(({ paymentId }) => paymentId ?? [])
  const payments = await judgeSources(deps, clientId, [...new Set(named)], { entries, ...read })
  const auditSource = (entry: Entry) => {
    const { entryId: id, paymentId, type } = entry
    const item = read.itemOf(entry) ?? {}
    // A copy under a longer key is read as the same entry.
    if (payments.derivedSks.has(item['sk'])) return []
    const source = paymentId === undefined ? sourceOf(books, entry) : undefined
    if (source) {
      const made = { key: entryKey(clientId, source), row: entryRow(source) }
      return keyedDifferences('entry', id, made, item)
    }
    const settlementId = settlementAgainOf(entry)
    const ofSettlement = settlementId ? `settlement ${settlementId}` : 'an adjustment'
    // An acceptance of an entry without a source ends when the entry changes.
    const expected = `one of ${paymentId ? `payment ${paymentId}` : ofSettlement}`
    return compare('entry', id, expected, `${type}: ${toValue(entry)}`)
  }
  const ofEntries = entries.flatMap((entry) => [
    ...onlyIf(
      tryToMake(() => isBalanced(entry)) !== true,
      compare('entry.sides', entry.entryId, 'equal', 'not equal'),
    ),
    ...auditAdjusted(
      entry,
      adjustments.find(({ entryId }) => entryId === entry.entryId)?.amountMinor,
    ),
    ...auditSource(entry),
  ])
  return [...ofEntries, ...payments.differences]
}

/** The payments that the entries name, with all that they derive. */
async function judgeSources(
  deps: StoreDeps,
  clientId: ClientId,
  ids: readonly PaymentId[],
  { entries, itemOf, reads = 'consistent', eventReads }: SourcesRead,
) {
  const items = await deps.table.getMany(ids.map(paymentKey), reads)
  const rows = items.flatMap((item) => {
    const payment = ifValid(PaymentSchema, item)
    return payment && item ? [{ payment, item }] : []
  })
  const payments = rows.map(({ payment }) => payment)
  const knownItems = entries.map(itemOf).filter((item) => item !== undefined)
  const own = await judgeOwn(deps, clientId, rows, { reads, eventReads, knownItems })
  const derived = payments.flatMap((payment) => tryToMake(() => entriesOf(payment)) ?? [])
  return {
    derivedSks: new Set<unknown>(derived.map((entry) => entryKey(clientId, entry).sk)),
    differences: [
      ...payments.flatMap(({ paymentId, clientId: owner }) =>
        compare('payment.client_id', paymentId, clientId, owner),
      ),
      ...own.differences,
    ],
  }
}

/** Entries as they are stored: an unreadable one is a difference and hides no other. */
export function readingInto(differences: Difference[]) {
  const items = new WeakMap<Entry, Item>()
  const read = (item: Item) => {
    const entry = tryToMake(() => parseEntry(item))
    const id = String(item['sk']).split('#')[1] ?? ''
    if (entry === undefined) differences.push(...unreadableRow('entry', id))
    else items.set(entry, item)
    return entry
  }
  return { read, itemOf: (entry: Entry) => items.get(entry) }
}

/** The settlement whose net the entry makes the client's money again. */
export function settlementAgainOf({ recreditedSettlementId, returnedSettlementId }: Entry) {
  return recreditedSettlementId ?? returnedSettlementId
}

/** A settlement that failed or came back, or an adjustment. */
function sourceOf({ settlements, adjustments }: ClientBooks, entry: Entry) {
  const id = settlementAgainOf(entry)
  const stored = settlements.find(({ settlement }) => settlement.settlementId === id)
  if (stored) return entryAgainOf(stored.settlement)
  const adjustment = adjustments.find(({ entryId }) => entryId === entry.entryId)
  return adjustment && entryOfAdjustment(adjustment, entry)
}

/** Only the house journal has the provider's amount of a row that an operator took over. */
function entryOfAdjustment(adjustment: Adjustment, found: Entry | undefined) {
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
