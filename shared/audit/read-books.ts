import * as v from 'valibot'
import type { StoreDeps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema, SettlementIdSchema } from '../ids.ts'
import { type Ledger, readLedger } from '../ledger/ledger-store.ts'
import { type Payment, PaymentSchema } from '../payment/payment.ts'
import { SettlementSchema } from '../settlement/settlement.ts'
import type { Item } from '../table/attributes.ts'
import { eventKey, type Key, paymentKey, settlementKey } from '../table/keys.ts'
import { auditEvent, eventTypeOf } from './audit-event.ts'
import { auditPayment } from './audit-payment.ts'
import type { StoredSettlement } from './audit-settlement.ts'
import { type Difference, differs, shown } from './difference.ts'
import { type OwnedRange, ownedItems, type Place } from './owned-items.ts'

const idOf = ({ pk }: Key) => pk.slice(pk.indexOf('#') + 1)

/**
 * A client's settlements, a few a day in its life, and what cannot be read as one. Those that its window names open are
 * read by their ids where the index has not heard of them yet.
 */
export const readSettlements = async (
  deps: StoreDeps,
  clientId: ClientId,
  openIds: ReadonlySet<string> = new Set(),
) => {
  const stored: StoredSettlement[] = []
  const unreadable: Difference[] = []
  const unheard = new Set(openIds)
  const judge = (key: Key, item: Item | undefined) => {
    unheard.delete(idOf(key))
    const parsed = v.safeParse(SettlementSchema, item)
    const isWhole = parsed.success && settlementKey(parsed.output.settlementId).pk === key.pk
    if (isWhole && item) stored.push({ settlement: parsed.output, item })
    else unreadable.push(...differs('settlement', idOf(key), 'readable', 'unreadable'))
  }
  for await (const page of ownedItems(deps, clientId, 'settlement', { parts: 1 })) {
    for (const { key, item } of page) judge(key, item)
  }
  const ids = [...unheard].flatMap((id) => {
    const parsed = v.safeParse(SettlementIdSchema, id)
    return parsed.success ? [parsed.output] : []
  })
  const items = await deps.table.getMany(ids.map((id) => settlementKey(id)))
  for (const [at, id] of ids.entries()) {
    const item = items[at]
    // One that the window names and the table does not have is the window's difference.
    if (!item) continue
    judge(settlementKey(id), item)
    unreadable.push(
      ...differs('settlement.owner', id, clientId, shown(item['owner'])),
      ...differs('settlement.entity', id, 'settlement', shown(item['entity'])),
    )
  }
  return { stored, unreadable }
}

/** One payment as it was read; undefined where it cannot be read as one. */
export type JudgedPayment = {
  readonly id: PaymentId
  readonly place: Place
  readonly payment: Payment | undefined
  /** Everything wrong with it by itself, its event too. */
  readonly differences: readonly Difference[]
}

const eventsOf = async (deps: StoreDeps, payments: readonly Payment[]): Promise<ReadonlyMap<string, Item>> => {
  const keys = payments.flatMap((payment) => {
    const type = eventTypeOf(payment)
    return type === undefined ? [] : [eventKey(payment.paymentId, type)]
  })
  const items = await deps.table.getMany(keys)
  return new Map(items.flatMap((item) => (item ? [[String(item['pk']), item] as const] : [])))
}

type Found = { readonly key: Key; readonly item: Item | undefined; readonly place: Place }

const parsedPayment = ({ key, item }: Found): Payment | undefined => {
  const parsed = v.safeParse(PaymentSchema, item)
  return parsed.success && paymentKey(parsed.output.paymentId).pk === key.pk ? parsed.output : undefined
}

/** Payments held against their events, and against themselves. */
const judgePayments = async (
  deps: StoreDeps,
  clientId: ClientId,
  found: readonly Found[],
): Promise<readonly JudgedPayment[]> => {
  const read = found.map((one) => ({ ...one, payment: parsedPayment(one) }))
  const events = await eventsOf(
    deps,
    read.flatMap(({ payment }) => (payment ? [payment] : [])),
  )
  const now = deps.now()
  return read.map(({ key, item, place, payment }) => ({
    id: v.parse(PaymentIdSchema, idOf(key)),
    place,
    payment,
    differences:
      payment && item
        ? [...auditPayment(payment, item, { clientId, now }), ...auditEvent(payment, events.get(key.pk), now)]
        : differs('payment', idOf(key), 'readable', 'unreadable'),
  }))
}

/** Payments by their ids, judged. */
export const judgeById = async (
  deps: StoreDeps,
  clientId: ClientId,
  ids: readonly PaymentId[],
): Promise<readonly JudgedPayment[]> => {
  const keys = ids.map(paymentKey)
  const items = await deps.table.getMany(keys)
  return judgePayments(
    deps,
    clientId,
    keys.map((key, at) => ({ key, item: items[at], place: { listedAt: '', id: idOf(key) } })),
  )
}

/** Every payment of a client behind a place, oldest first, page by page. */
export const judgedPages = async function* (
  deps: StoreDeps,
  clientId: ClientId,
  from: OwnedRange,
): AsyncGenerator<readonly JudgedPayment[]> {
  for await (const page of ownedItems(deps, clientId, 'payment', from)) yield judgePayments(deps, clientId, page)
}

/** A ledger whose figures are no figures cannot be read at all; that is a difference, not a failure of the audit. */
export const readableLedger = async (deps: StoreDeps, clientId: ClientId): Promise<Ledger | undefined> => {
  try {
    return await readLedger(deps, clientId)
  } catch (error) {
    if (v.isValiError(error)) return undefined
    throw error
  }
}
