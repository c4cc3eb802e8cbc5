import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { type PaymentId, PaymentIdSchema } from '../../ids.ts'
import { parseEntry } from '../../journal/entry-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import type { Item } from '../../table/attributes.ts'
import { entryKey, eventKey, idOf, paymentKey } from '../../table/keys.ts'
import { type Difference, differs, madeOf } from '../../verdict/difference.ts'
import { auditDeliveries } from './audit-deliveries.ts'
import { compareEntries } from './audit-entries.ts'
import { auditEvent, eventNamesOf } from './audit-event.ts'
import { auditMoney, auditPayment } from './audit-payment.ts'
import type { ClientBooks, OwnedItem } from './client-books.ts'

const parsedPayment = ({ key, item }: OwnedItem): Payment | undefined => {
  const parsed = v.safeParse(PaymentSchema, item)
  return parsed.success && paymentKey(parsed.output.paymentId).pk === key.pk ? parsed.output : undefined
}

/** Every event that the payments must have written, with its item. */
const eventsOf = async (deps: StoreDeps, payments: readonly Payment[]) => {
  const named = payments.flatMap((payment) => eventNamesOf(payment).map((name) => ({ payment, name })))
  const items = await deps.table.getMany(named.map(({ payment, name }) => eventKey(payment.paymentId, name)))
  return Map.groupBy(
    named.map((one, at) => ({ ...one, item: items[at] })),
    ({ payment }) => payment.paymentId,
  )
}

/** Each entry that a payment must have, as it is stored under its key. */
const entryDifferences = async (
  deps: StoreDeps,
  payments: readonly Payment[],
): Promise<ReadonlyMap<PaymentId, readonly Difference[]>> => {
  const wanted = payments.flatMap((payment) => expectedEntries(payment).map((entry) => ({ payment, entry })))
  const items = await deps.table.getMany(wanted.map(({ payment, entry }) => entryKey(payment, entry)))
  const found = new Map<PaymentId, readonly Difference[]>()
  for (const [at, { payment, entry }] of wanted.entries()) {
    const item = items[at]
    const differences =
      item === undefined
        ? differs('entry', entry.entryId, `a ${entry.type} of payment ${payment.paymentId}`, 'not there')
        : readEntry(item, entry.entryId, (stored) => compareEntries(entry, stored))
    found.set(payment.paymentId, [...(found.get(payment.paymentId) ?? []), ...differences])
  }
  return found
}

const readEntry = (
  item: Item,
  id: string,
  judge: (entry: ReturnType<typeof parseEntry>) => readonly Difference[],
): readonly Difference[] => {
  try {
    return judge(parseEntry(item))
  } catch (error) {
    if (v.isValiError(error)) return differs('entry', id, 'readable', 'unreadable')
    throw error
  }
}

/** Altered figures may form no valid entry; `auditMoney` reports that. */
const expectedEntries = (payment: Payment) => madeOf(() => entriesOf(payment)) ?? []

export type JudgedPayment = {
  readonly id: PaymentId
  /** As it was read. */
  readonly item: Item | undefined
  /** Undefined when it cannot be parsed. */
  readonly payment: Payment | undefined
  /** All its differences, with its events, their deliveries and its entries. */
  readonly differences: readonly Difference[]
}

/** Compares payments with their events, their entries and themselves. */
export const judgePayments = async (
  deps: StoreDeps,
  { clientId }: Pick<ClientBooks, 'clientId'>,
  found: readonly OwnedItem[],
): Promise<readonly JudgedPayment[]> => {
  const read = found.map((one) => ({ ...one, payment: parsedPayment(one) }))
  const payments = read.flatMap(({ payment }) => (payment ? [payment] : []))
  const [events, entries] = await Promise.all([eventsOf(deps, payments), entryDifferences(deps, payments)])
  const eventItems = [...events.values()].flat().flatMap(({ item }) => (item ? [item] : []))
  const deliveries = await auditDeliveries(deps, clientId, eventItems)
  const now = deps.now()
  return read.map(({ key, item, payment }) => ({
    id: v.parse(PaymentIdSchema, idOf(key.pk)),
    item,
    payment,
    differences:
      payment && item
        ? [
            ...auditPayment(payment, item, { clientId, now }),
            ...auditMoney(payment),
            ...(events.get(payment.paymentId) ?? []).flatMap((event) => auditEvent(payment, event, now)),
            ...(entries.get(payment.paymentId) ?? []),
            ...(deliveries.get(payment.paymentId) ?? []),
          ]
        : differs('payment', idOf(key.pk), 'readable', 'unreadable'),
  }))
}

/** Payments by their ids, judged. */
export const judgeById = async (
  deps: StoreDeps,
  books: Pick<ClientBooks, 'clientId'>,
  ids: readonly PaymentId[],
): Promise<readonly JudgedPayment[]> => {
  const keys = ids.map(paymentKey)
  const items = await deps.table.getMany(keys)
  return judgePayments(
    deps,
    books,
    keys.map((key, at) => ({ key, item: items[at] })),
  )
}
