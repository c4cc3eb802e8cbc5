import type { StoreDeps } from '../../deps.ts'
import type { ClientId, PaymentId } from '../../ids.ts'
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
import {
  compare,
  type Difference,
  onlyIf,
  toValue,
  tryToMake,
  unreadableRow,
} from '../../verdict/difference.ts'
import { auditAdjusted } from '../rows/audit-legs.ts'
import { judgeEntries } from '../rows/judge-entries.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import type { ClientBooks } from './client-books.ts'
import { judgeOwners } from './derive-payment.ts'
import { auditPayment, judgeEventsOf } from './judge-payments.ts'

type SourcesRead = Pick<ReturnType<typeof readingInto>, 'itemOf'> & {
  readonly entries: readonly Entry[]
  readonly reads?: Reads
  /** Judges the payments by their own facts and their events too, which are read so. */
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
  const sourceOf = (entry: Entry): Entry | readonly Difference[] => {
    const { entryId: id, paymentId, type } = entry
    if (paymentId === undefined)
      return type === 'recredit' || type === 'returned'
        ? settlementSource(books, entry)
        : adjustmentSource(books, entry)
    return payments.ids.has(paymentId)
      ? onlyIf(
          !payments.derivedSks.has(entryKey(clientId, entry).sk),
          compare('entry', id, `one of payment ${paymentId}`, type),
        )
      : compare('entry.payment_id', id, 'a payment', paymentId)
  }
  const auditSource = (entry: Entry): readonly Difference[] => {
    const source = sourceOf(entry)
    if ('entryId' in source)
      return rowDifferences('entry', entry.entryId, entryRow(source), read.itemOf(entry))
    // An acceptance of an entry without a source ends when the entry changes.
    return source.map((one) => ({ ...one, found: `${one.found}: ${toValue(entry)}` }))
  }
  const seenIds = new Set<string>()
  const ofEntries = entries.flatMap((entry) => {
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
        adjustments.find(({ entryId }) => entryId === entry.entryId)?.amountMinor,
      ),
      ...auditSource(entry),
    ]
  })
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
  const knownItems = new Map(
    entries.flatMap((entry) => {
      const item = itemOf(entry)
      return item ? [[item['sk'], item] as const] : []
    }),
  )
  const now = deps.now()
  const [owners, ofEntries, events] = await Promise.all([
    judgeOwners(deps, payments),
    judgeEntries(deps, clientId, payments, { reads, knownItems }),
    eventReads && judgeEventsOf(deps, clientId, payments, eventReads),
  ])
  const derived = payments.flatMap((payment) => tryToMake(() => entriesOf(payment)) ?? [])
  return {
    ids: new Set(payments.map(({ paymentId }) => paymentId)),
    derivedSks: new Set(derived.map((entry) => entryKey(clientId, entry).sk)),
    differences: [
      ...payments.flatMap(({ paymentId, clientId: owner }) =>
        compare('payment.client_id', paymentId, clientId, owner),
      ),
      ...[...owners, ...ofEntries].flatMap(({ differences }) => differences),
      ...(events
        ? rows.flatMap(({ payment, item }) => auditPayment(payment, item, { clientId, now }))
        : []),
      ...(events?.judgedEvents ?? []).flatMap(({ differences }) => differences),
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

/** A re-credit replaces a settlement that failed, a return a transfer that came back. */
function settlementSource({ settlements }: ClientBooks, entry: Entry) {
  const { entryId: id, recreditedSettlementId, returnedSettlementId } = entry
  const isReturn = entry.type === 'returned'
  const sourceId = isReturn ? returnedSettlementId : recreditedSettlementId
  const stored = settlements.find(({ settlement }) => settlement.settlementId === sourceId)
  const source = stored?.settlement
  const at = isReturn ? source?.returnedAt : source?.recreditedAt
  if (source && at)
    return (
      tryToMake(() => (isReturn ? returnedEntry : recreditEntry)(source, at)) ??
      compare('settlement', source.settlementId, 'figures that add up', 'different')
    )
  return isReturn
    ? compare('entry.returned_settlement_id', id, 'a payout that was returned', sourceId)
    : compare('entry.recredited_settlement_id', id, 'a settlement that was re-credited', sourceId)
}

function adjustmentSource({ adjustments }: ClientBooks, entry: Entry) {
  const { entryId: id, type } = entry
  const adjustment = adjustments.find(({ entryId }) => entryId === id)
  return adjustment
    ? entryOfAdjustment(adjustment, entry)
    : compare('entry', id, 'one of an adjustment', type)
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
