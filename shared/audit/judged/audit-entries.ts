import type { StoreDeps } from '../../deps.ts'
import type { PaymentId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { ENTRY_SIDES, type Entry, fieldsText, isBalanced } from '../../journal/entry.ts'
import { findEntry } from '../../journal/entry-store.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import type { Adjustment } from '../../posting/adjustment-store.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import { recreditEntry, recreditOfEntry } from '../../settlement/close-settlement.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { attributeName } from '../../table/attributes.ts'
import { paymentKey } from '../../table/keys.ts'
import { compared, type Difference, differs, madeOf, when } from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'

const paymentsOf = async (deps: StoreDeps, entries: readonly Entry[]): Promise<ReadonlyMap<PaymentId, Payment>> => {
  const ids = [...new Set(entries.flatMap(({ paymentId }) => (paymentId === undefined ? [] : [paymentId])))]
  const items = await deps.table.getMany(ids.map(paymentKey))
  return new Map(
    ids.flatMap((id, at) => {
      const payment = ifValid(PaymentSchema, items[at])
      return payment ? [[id, payment] as const] : []
    }),
  )
}

const FIELDS = ['type', 'eligibleAt', 'postedAt', ...ENTRY_SIDES, 'providerTransactionId'] as const

/** Fields of an entry that differ; another field is named when these are the same. */
export const compareEntries = (expected: Entry, found: Entry): readonly Difference[] => {
  if (fieldsText(expected) === fieldsText(found)) return []
  const named = FIELDS.flatMap((field) =>
    differs(`entry.${attributeName(field)}`, found.entryId, expected[field], found[field]),
  )
  return named.length > 0 ? named : differs('entry', found.entryId, 'as its payment says', 'different')
}

const auditOfPayment = ({ clientId }: ClientBooks, entry: Entry, payment: Payment): readonly Difference[] => {
  const expected = entriesOf(payment).find(({ entryId }) => entryId === entry.entryId)
  return [
    ...differs('payment.client_id', payment.paymentId, clientId, payment.clientId),
    ...(expected === undefined
      ? differs('entry', entry.entryId, `one of payment ${payment.paymentId}`, entry.type)
      : compareEntries(expected, entry)),
  ]
}

/** A re-credit replaces a settlement that failed, or an entry that its settlement has noted as left out. */
const auditRecredit = ({ settlements }: ClientBooks, entry: Entry): readonly Difference[] => {
  const { entryId: id, standsForEntryId, recreditedSettlementId, postedAt } = entry
  if (standsForEntryId !== undefined) {
    const noted = settlements.flatMap(({ settlement: { leftOut = [] } }) => leftOut)
    const isNoted = noted.some((one) => one.entryId === standsForEntryId && one.recreditedAt === postedAt)
    return isNoted ? [] : differs('entry', id, 'of an entry left out', entry.type)
  }
  const found = settlements.find(({ settlement: { settlementId } }) => settlementId === recreditedSettlementId)
  const at = found?.settlement.recreditedAt
  if (found === undefined || at === undefined) {
    return differs('entry.recredited_settlement_id', id, 'a settlement that was re-credited', recreditedSettlementId)
  }
  const expected = madeOf(() => recreditEntry(found.settlement, at))
  return expected
    ? compareEntries(expected, entry)
    : differs('settlement', found.settlement.settlementId, 'figures that add up', 'different')
}

const compareAdjustment = (adjustment: Adjustment, entry: Entry): readonly Difference[] =>
  compared('entry', entry.entryId, [
    ['type', adjustment.kind, entry.type],
    ['net_minor', adjustment.amountMinor, entry.netMinor],
    ['eligible_at', adjustment.eligibleAt, entry.eligibleAt],
    ['provider_transaction_id', adjustment.providerTransactionId, entry.providerTransactionId],
  ])

/** Compares each entry of a client with itself and with its source: a payment, a settlement, or an adjustment. */
export const auditEntries = async (deps: StoreDeps, books: ClientBooks, entries: readonly Entry[]) => {
  const payments = await paymentsOf(deps, entries)
  const ids = new Set<string>()
  const auditSource = (entry: Entry): readonly Difference[] => {
    const { entryId: id, paymentId, type } = entry
    if (paymentId !== undefined) {
      const payment = payments.get(paymentId)
      return payment ? auditOfPayment(books, entry, payment) : differs('entry.payment_id', id, 'a payment', paymentId)
    }
    if (type === 'recredit') return auditRecredit(books, entry)
    const adjustment = books.adjustments.find(({ entryId }) => entryId === id)
    return adjustment ? compareAdjustment(adjustment, entry) : differs('entry', id, 'one of an adjustment', type)
  }
  return entries.flatMap((entry) => {
    const isTwice = ids.has(entry.entryId)
    ids.add(entry.entryId)
    return [
      ...when(isTwice, differs('entry', entry.entryId, 'once', 'twice')),
      ...when(!isBalanced(entry), differs('entry.house_minor', entry.entryId, 'equal sides', entry.houseMinor)),
      ...auditSource(entry),
    ]
  })
}

const referenceIn = ({ action, after }: AuditRecord): readonly string[] =>
  action === 'adjust-ledger' && typeof after?.['reference'] === 'string' ? [after['reference']] : []

/** Every adjustment has its entry and its record, and every record its adjustment. */
export const auditAdjustments = async (deps: StoreDeps, { clientId, adjustments, clientRecords }: ClientBooks) => {
  const recorded = new Set(clientRecords.flatMap(referenceIn))
  const made = new Set(adjustments.map(({ reference }) => reference))
  const found = await Promise.all(
    adjustments.map(async (adjustment) => {
      const { reference, entryId } = adjustment
      const entry = await findEntry(deps, { clientId }, adjustment)
      return [
        ...differs('adjustment', reference, 'recorded', recorded.has(reference) ? 'recorded' : 'not recorded'),
        ...(entry
          ? compareAdjustment(adjustment, entry)
          : differs('entry', entryId, `that of adjustment ${reference}`, 'missing')),
      ]
    }),
  )
  const lost = [...recorded].filter((reference) => !made.has(reference))
  return [...found.flat(), ...lost.flatMap((reference) => differs('adjustment', reference, 'present', 'missing'))]
}

/** Each entry outside its settlement has its re-credit, with the same figures. */
export const auditLeftOut = async (deps: StoreDeps, settlement: Settlement, entries: readonly Entry[]) => {
  const { clientId, leftOut = [] } = settlement
  const found = await Promise.all(
    leftOut.map(async ({ entryId, type, netMinor, recreditedAt }) => {
      const entry = entries.find((one) => one.entryId === entryId)
      if (entry === undefined) return []
      const expected = recreditOfEntry(settlement, entry, recreditedAt)
      const recredit = await findEntry(deps, { clientId }, expected)
      return [
        ...differs('settlement.left_out.type', entryId, entry.type, type),
        ...differs('settlement.left_out.net_minor', entryId, entry.netMinor, netMinor),
        ...(recredit
          ? compareEntries(expected, recredit)
          : differs('entry', expected.entryId, `that of entry ${entryId}`, 'missing')),
      ]
    }),
  )
  return found.flat()
}
