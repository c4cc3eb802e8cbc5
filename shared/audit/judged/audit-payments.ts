import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import { type PaymentId, PaymentIdSchema } from '../../ids.ts'
import { parseEntry } from '../../journal/entry-store.ts'
import { moveMoney, untouched } from '../../journal/payment-money.ts'
import { type Payment, PaymentSchema } from '../../payment/payment.ts'
import { entriesOf, moneyOf } from '../../posting/payment-entries.ts'
import type { Item } from '../../table/attributes.ts'
import { entryKey, eventKey, type Key, paymentKey } from '../../table/keys.ts'
import { breaks, type Difference, differs } from '../../verdict/difference.ts'
import { compareEntries } from './audit-entries.ts'
import { auditEvent, eventTypeOf } from './audit-event.ts'
import { auditPayment } from './audit-payment.ts'
import type { ClientBooks } from './client-books.ts'
import type { OwnedItem } from './owned-items.ts'

const idOf = ({ pk }: Key): string => pk.slice(pk.indexOf('#') + 1)

const parsedPayment = ({ key, item }: OwnedItem): Payment | undefined => {
  const parsed = v.safeParse(PaymentSchema, item)
  return parsed.success && paymentKey(parsed.output.paymentId).pk === key.pk ? parsed.output : undefined
}

const byPk = (items: readonly (Item | undefined)[]): ReadonlyMap<string, Item> =>
  new Map(items.flatMap((item) => (item ? [[String(item['pk']), item] as const] : [])))

const eventsOf = async (deps: StoreDeps, payments: readonly Payment[]): Promise<ReadonlyMap<string, Item>> => {
  const keys = payments.flatMap((payment) => {
    const type = eventTypeOf(payment)
    return type === undefined ? [] : [eventKey(payment.paymentId, type)]
  })
  return byPk(await deps.table.getMany(keys))
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

/** Figures that were altered may add up to no entry at all: that is told by `auditMoney`. */
const expectedEntries = (payment: Payment) => {
  try {
    return entriesOf(payment)
  } catch {
    return []
  }
}

/** What moved the payment's money, applied anew: what it took, what is left of it, and what stands. */
const auditMoney = (payment: Payment): readonly Difference[] => {
  const { paymentId: id, status, openAt, postedAt, paidAt, takenBackMinor, movements } = payment
  if (status !== 'succeeded') {
    return breaks(
      'payment.posted_at',
      id,
      postedAt !== undefined || openAt !== undefined,
      'never paid',
      postedAt ?? openAt,
    )
  }
  const differences = [
    ...differs('payment.open_at', id, postedAt === undefined ? paidAt : undefined, openAt),
    ...differs(
      'payment.money_version',
      id,
      'a number of its own',
      payment.moneyVersion === undefined && (postedAt !== undefined || movements.length > 0)
        ? 'none'
        : 'a number of its own',
    ),
  ]
  try {
    let money = untouched(moneyOf(payment).price)
    for (const movement of movements)
      money = moveMoney(money, { ...movement, isOwnRow: movement.isOwnRow === true })?.money ?? money
    return [
      ...differences,
      ...differs('payment.taken_back_minor', id, money.takenBackMinor, takenBackMinor),
      ...differs('payment.is_void', id, String(money.isVoid), String(payment.isVoid === true)),
      ...breaks(
        'payment.movements',
        id,
        money.movements.length !== movements.length,
        'each row and type once',
        movements.length,
      ),
      ...money.movements.flatMap((expected, at) => [
        ...differs('payment.movements.took_minor', id, expected.tookMinor, movements[at]?.tookMinor),
        ...differs('payment.movements.left_minor', id, expected.leftMinor, movements[at]?.leftMinor),
      ]),
    ]
  } catch {
    return [...differences, ...differs('payment.movements', id, 'figures that add up', 'otherwise')]
  }
}

export type JudgedPayment = {
  readonly id: PaymentId
  /** Undefined where it cannot be read as one. */
  readonly payment: Payment | undefined
  /** Everything wrong with it, with its event and with its entries. */
  readonly differences: readonly Difference[]
}

/** Payments held against their events, against their entries, and against themselves. */
export const judgePayments = async (
  deps: StoreDeps,
  { clientId }: Pick<ClientBooks, 'clientId'>,
  found: readonly OwnedItem[],
): Promise<readonly JudgedPayment[]> => {
  const read = found.map((one) => ({ ...one, payment: parsedPayment(one) }))
  const payments = read.flatMap(({ payment }) => (payment ? [payment] : []))
  const [events, entries] = await Promise.all([eventsOf(deps, payments), entryDifferences(deps, payments)])
  const now = deps.now()
  return read.map(({ key, item, payment }) => ({
    id: v.parse(PaymentIdSchema, idOf(key)),
    payment,
    differences:
      payment && item
        ? [
            ...auditPayment(payment, item, { clientId, now }),
            ...auditMoney(payment),
            ...auditEvent(payment, events.get(key.pk), now),
            ...(entries.get(payment.paymentId) ?? []),
          ]
        : differs('payment', idOf(key), 'readable', 'unreadable'),
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
    keys.map((key, at) => ({ key, item: items[at], place: { listedAt: '', id: idOf(key) } })),
  )
}
