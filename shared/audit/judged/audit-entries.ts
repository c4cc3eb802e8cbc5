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
import { leftOutRecredit, recreditEntry } from '../../settlement/close-settlement.ts'
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
  return named.length > 0 ? named : differs('entry', found.entryId, 'as its payment says', 'otherwise')
}

const auditOfPayment = ({ clientId }: ClientBooks, entry: Entry, payments: ReadonlyMap<PaymentId, Payment>) => {
  const payment = entry.paymentId && payments.get(entry.paymentId)
  if (!payment) return differs('entry.payment_id', entry.entryId, 'a payment', entry.paymentId)
  const expected = entriesOf(payment).find(({ entryId }) => entryId === entry.entryId)
  return [
    ...differs('payment.client_id', payment.paymentId, clientId, payment.clientId),
    ...(expected === undefined
      ? differs('entry', entry.entryId, `one of payment ${payment.paymentId}`, entry.type)
      : compareEntries(expected, entry)),
  ]
}

/** Whether a re-credit replaces an entry that its settlement has noted as left out. */
const isNoted = ({ settlements }: Pick<ClientBooks, 'settlements'>, recredit: Entry): boolean =>
  settlements.some(({ settlement: { leftOut = [] } }) =>
    leftOut.some(
      ({ entryId, recreditedAt }) => entryId === recredit.standsForEntryId && recreditedAt === recredit.postedAt,
    ),
  )

const auditRecredits = (books: ClientBooks, entries: readonly Entry[]): readonly Difference[] =>
  entries
    .filter(({ type }) => type === 'recredit')
    .flatMap((entry) => {
      if (entry.standsForEntryId !== undefined) {
        return isNoted(books, entry) ? [] : differs('entry', entry.entryId, 'of an entry left out', entry.type)
      }
      const id = entry.recreditedSettlementId
      const settlement = books.settlements.find((one) => one.settlement.settlementId === id)?.settlement
      const at = settlement?.recreditedAt
      if (settlement === undefined || at === undefined) {
        return differs('entry.recredited_settlement_id', entry.entryId, 'a settlement that was re-credited', id)
      }
      const expected = madeOf(() => recreditEntry(settlement, at))
      return expected
        ? compareEntries(expected, entry)
        : differs('settlement', settlement.settlementId, 'figures that add up', 'otherwise')
    })

/** Compares each entry of a client with its source and with itself. */
export const auditEntries = async (deps: StoreDeps, books: ClientBooks, entries: readonly Entry[]) => {
  const payments = await paymentsOf(deps, entries)
  const ids = new Set<string>()
  const own = entries.flatMap((entry) => {
    const isTwice = ids.has(entry.entryId)
    ids.add(entry.entryId)
    return [
      ...when(isTwice, differs('entry', entry.entryId, 'once', 'twice')),
      ...when(!isBalanced(entry), differs('entry.house_minor', entry.entryId, 'equal sides', entry.houseMinor)),
      ...(entry.paymentId === undefined ? [] : auditOfPayment(books, entry, payments)),
    ]
  })
  return [...own, ...auditAdjustedEntries(books, entries), ...auditRecredits(books, entries)]
}

const isAdjusted = ({ type, paymentId }: Entry): boolean =>
  paymentId === undefined && (type === 'recovered' || type === 'written_off' || type === 'correction')

const compare = (adjustment: Adjustment, entry: Entry): readonly Difference[] =>
  compared('entry', entry.entryId, [
    ['type', adjustment.kind, entry.type],
    ['net_minor', adjustment.amountMinor, entry.netMinor],
    ['eligible_at', adjustment.eligibleAt, entry.eligibleAt],
    ['provider_transaction_id', adjustment.providerTransactionId, entry.providerTransactionId],
  ])

/** Compares each entry that an operator made with its adjustment. */
const auditAdjustedEntries = ({ adjustments }: Pick<ClientBooks, 'adjustments'>, entries: readonly Entry[]) =>
  entries.filter(isAdjusted).flatMap((entry) => {
    const adjustment = adjustments.find(({ entryId }) => entryId === entry.entryId)
    return adjustment ? compare(adjustment, entry) : differs('entry', entry.entryId, 'one of an adjustment', entry.type)
  })

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
          ? compare(adjustment, entry)
          : differs('entry', entryId, `that of adjustment ${reference}`, 'not there')),
      ]
    }),
  )
  const lost = [...recorded].filter((reference) => !made.has(reference))
  return [...found.flat(), ...lost.flatMap((reference) => differs('adjustment', reference, 'there', 'not there'))]
}

/** Each entry outside its settlement has its re-credit, with the same figures. */
export const auditLeftOut = async (deps: StoreDeps, settlement: Settlement, entries: readonly Entry[]) => {
  const { clientId, leftOut = [] } = settlement
  const found = await Promise.all(
    leftOut.map(async ({ entryId, type, netMinor, recreditedAt }) => {
      const entry = entries.find((one) => one.entryId === entryId)
      if (entry === undefined) return []
      const expected = leftOutRecredit(settlement, entry, recreditedAt)
      const recredit = await findEntry(deps, { clientId }, expected)
      return [
        ...differs('settlement.left_out.type', entryId, entry.type, type),
        ...differs('settlement.left_out.net_minor', entryId, entry.netMinor, netMinor),
        ...(recredit
          ? compareEntries(expected, recredit)
          : differs('entry', expected.entryId, `that of entry ${entryId}`, 'not there')),
      ]
    }),
  )
  return found.flat()
}
