import { eventNamesOf } from '../../../shared/audit/judged/audit-event.ts'
import { changeClient } from '../../../shared/client/client-store.ts'
import { slotOf } from '../../../shared/ids.ts'
import { shardOf as shardKeyOf } from '../../../shared/ledger/shard-store.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { cancelPayment, expirePayment } from '../../../shared/payment/news/cancel-payment.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { bookSuspense } from '../../../shared/posting/house-journal.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import { heldMoney } from '../../../shared/suspense/record-suspense.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { putSuspense } from '../../../shared/suspense/suspense-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import {
  auditRecordPk,
  clientKey,
  entryKey,
  eventKey,
  houseDayPk,
  type Key,
  paymentKey,
  settlementKey,
  shardKey,
  suspenseKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { exists, remove, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import { NOT_SETTLED } from '../../support/fake-provider.ts'
import { aChargeback, adjusted, aRefund } from '../../support/money-rows.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import {
  BANK,
  BY_OPERATOR,
  fail,
  payOut,
  recredit,
  sweptNow,
  trigger,
} from '../../support/settlement-builders.ts'
import {
  aSyncWorld,
  creditedPayment,
  type PaidUpstream,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

/**
 * The books of a client that has been through everything: every status, an actual, an estimated and an assumed fee,
 * settlements that were paid, failed and re-credited (one carried by the next, one still waiting), money that went back
 * before and after its settlement, money in suspense, and an open tail. Answers them by name; the table is its own.
 */
export async function auditedHistory(own?: TestDeps) {
  const world = await aSyncWorld(own)
  const { deps, client, rows } = world
  const { clientId } = client
  deps.clock.advance(1)
  await changeClient(deps, { clientId, operator: BY_OPERATOR.operator, changes: { bank: BANK } })
  const suspended = async (providerPaymentId: string, rowAt: Timestamp) => {
    const capture = { providerPaymentId, capturedMinor: minor(30_000) }
    const item = heldMoney({
      capture,
      cause: 'second_capture',
      payment: settledActual.payment,
      now: deps.now(),
    })
    await putSuspense(deps, item)
    await bookSuspense(deps, item, {
      transactionId: `txn-${providerPaymentId}`,
      rowAt,
      providerMinor: minor(29_000),
    })
    return item.suspenseId
  }
  /** Its actual fee is known a minute after it was credited. */
  const settledBy = async (...paid: readonly PaidUpstream[]) => {
    deps.clock.advance(60)
    for (const one of paid) rows.push(rowNow(deps, one))
    await syncProviderTransactions(deps)
  }

  // A settled payment whose fee became actual, in a settlement that failed; a second one, by hand, carries its sums.
  const settledActual = await creditedPayment(deps, client, {
    customer: { name: 'Siti' },
    description: 'kopi',
  })
  await settledBy(settledActual)
  deps.clock.advance(DAY)
  const failed = await sweptNow(deps, client)
  deps.clock.advance(60)
  await fail(deps, failed)
  deps.clock.advance(60)
  await recredit(deps, failed)
  deps.clock.advance(60)
  const carrying = await trigger(deps, client)
  deps.clock.advance(60)
  const paid = await payOut(deps, carrying ?? failed)

  // A payment whose fee was never known, settled on the estimate after seven days; not paid out yet.
  deps.clock.advance(HOUR)
  const settledAssumed = await creditedPayment(deps, client, {
    method: 'qris',
    channelCode: undefined,
  })
  deps.clock.advance(8 * DAY)
  const recorded = await sweptNow(deps, client)

  // A settlement that failed and whose funds wait in available.
  await settledBy(await creditedPayment(deps, client))
  deps.clock.advance(DAY)
  const waiting = await sweptNow(deps, client)
  await fail(deps, waiting)
  deps.clock.advance(60)
  await recredit(deps, waiting)

  // Money that went back: a part while its payment was open, a whole one after its settlement.
  const refunded = await creditedPayment(deps, client)
  await movePayment(deps, await paymentOf(deps, refunded), aRefund(deps, 10_000))
  await settledBy(refunded)
  await movePayment(deps, await paymentOf(deps, settledActual), aChargeback(deps, 100_000))
  await adjusted(deps, client, 'recovered', 5_000)

  // Money in suspense: one amount is still held, its row is the oldest that the sync still reads. Another one went back
  // by bank; its row is dated tomorrow.
  const rowAt = addMs(deps.now(), -180 * DAY_MS)
  const held = await suspended('py-held', rowAt)
  const refundedByBank = await suspended('py-refunded', addMs(deps.now(), DAY_MS))
  await resolveSuspense(deps, {
    suspenseId: refundedByBank,
    ...BY_OPERATOR,
    resolution: 'refunded_by_bank',
  })

  // The open tail.
  deps.clock.advance(HOUR)
  const estimated = await creditedPayment(deps, client, {
    metadata: '{"table":12345678901234567890}',
  })
  const corrected = await creditedPayment(deps, client)
  rows.push(rowNow(deps, estimated, NOT_SETTLED))
  await settledBy(corrected)
  const knownAtOnce = await paidUpstream(deps, client)
  rows.push(rowNow(deps, knownAtOnce))
  await applyProviderNews(deps, { providerPaymentId: knownAtOnce.providerPaymentId }, 'callback')
  const pending = { payment: await aPendingPayment(deps, client) }
  const failedPayment = {
    payment: await aPendingPayment(deps, client, { notionalMinor: minor(70_000) }),
  }
  const expired = { payment: await aPendingPayment(deps, client, { expiresInSeconds: 60 }) }
  const cancelled = { payment: await aPendingPayment(deps, client) }
  deps.clock.advance(60)
  await closePayment(deps, failedPayment.payment, { status: 'failed', source: 'callback' })
  await expirePayment(deps, expired.payment, 'due_work')
  await cancelPayment(deps, { clientId, id: cancelled.payment.paymentId })
  deps.clock.advance(60)

  // The machine of a credit has a clock that is five minutes ahead.
  await deps.table.write(
    update(shardKeyOf(corrected.payment), {
      set: { creditedAt: addMs(deps.now(), 5 * MINUTE_MS) },
    }),
  )

  const credited = { settledActual, settledAssumed, refunded, estimated, corrected, knownAtOnce }
  const named = { ...credited, pending, failedPayment, expired, cancelled }
  const payments = Object.fromEntries(
    await Promise.all(
      Object.entries(named).map(async ([name, one]) => [name, await paymentOf(deps, one)] as const),
    ),
  )
  const settlements = { failed, paid, recorded, waiting }
  return {
    deps,
    client,
    payments,
    settlements,
    suspense: { held, refundedByBank },
    houseRowAt: rowAt,
  }
}

export type AuditedHistory = Awaited<ReturnType<typeof auditedHistory>>

export let history: AuditedHistory

export async function makeHistory(deps = testDeps()): Promise<void> {
  history = await auditedHistory(deps)
}

export function paymentCalled(name: string) {
  const payment = history.payments[name]
  if (payment === undefined) throw new Error(`there is no payment ${name}`)
  return payment
}

/** The key of a row of the history. */
export type Place = () => Key | Promise<Key>

export const paymentRow = called((name: string) => paymentKey(paymentCalled(name).paymentId))

/** Of its end, or of a later movement of its money. */
export function eventRow(name: string, nth = 0): Place {
  return () => eventKey(paymentCalled(name).paymentId, eventNamesOf(paymentCalled(name))[nth] ?? '')
}
export const settlementRow = called((name: keyof AuditedHistory['settlements']) =>
  settlementKey(history.settlements[name].settlementId),
)
export const suspenseRow = called((name: keyof AuditedHistory['suspense']) =>
  suspenseKey(history.suspense[name]),
)

/** The entry of a type that a payment has. */
export function entryRow(name: string, type: string): Place {
  return async () => {
    const payment = await paymentOf(history.deps, { payment: paymentCalled(name) })
    const entry = entriesOf(payment).find((one) => one.type === type)
    if (entry === undefined) throw new Error(`${name} has no entry ${type}`)
    return entryKey(payment, entry)
  }
}

export function historyClientId() {
  return history.client.clientId
}

export function clientRow(): Key | Promise<Key> {
  return clientKey(historyClientId())
}

export function windowRow(): Key | Promise<Key> {
  return windowKey(historyClientId())
}

export function shardOf(name: string): number {
  return slotOf(paymentCalled(name).paymentId, LEDGER_SHARDS)
}
export const shardRow = called((name: string) => shardKey(historyClientId(), shardOf(name)))

export function houseRow(): Key | Promise<Key> {
  return firstIn(
    houseDayPk(history.houseRowAt.slice(0, 10)),
    ({ suspense_id: id }) => id === 'py-held',
  )
}

type Row = Readonly<Record<string, unknown>>

async function firstIn(pk: string, isIt: (row: Row) => boolean = () => true): Promise<Key> {
  const found = (await history.deps.table.query({ partition: [pk], limit: 100 })).items
    .map(toItem)
    .find(isIt)
  if (found === undefined) throw new Error(`there is no such row in ${pk}`)
  return keyOf(found)
}

function keyOf({ pk, sk }: Row): Key {
  return { pk: String(pk), sk: String(sk) }
}

export function recordRow(): Key | Promise<Key> {
  return firstIn(auditRecordPk(history.settlements.paid.settlementId))
}

/** A change of rows past every condition, as a person with access to the table makes it. Answers how it is undone. */
export type Corruption = () => Promise<() => Promise<void>>

export function change(place: Place, changes: (before: Row) => Row): Corruption {
  return replace(place, (before) => [{ ...before, ...changes(before) }])
}

/** Other rows in place of a row, under its key or under others. */
function replace(place: Place, alter: (before: Row) => readonly Row[]): Corruption {
  return async () => {
    const before = await rawItem(history.deps, await place())
    const rows = alter(before)
    await erase(before)
    for (const row of rows) await write(row)
    return async () => {
      for (const row of rows) await erase(row)
      await write(before)
    }
  }
}

async function erase(row: Row): Promise<void> {
  return void (await history.deps.table.write(remove(keyOf(row), exists)))
}

async function write(row: Row): Promise<void> {
  return void (await putRaw(history.deps, row))
}

export function set(place: Place, changes: Row): Corruption {
  return change(place, () => changes)
}

export function add(place: Place, attribute: string): Corruption {
  return change(place, ({ [attribute]: before = 0 }) => ({ [attribute]: Number(before) + 1 }))
}

export function lose(place: Place): Corruption {
  return replace(place, () => [])
}

export function copy(place: Place, changes: (before: Row) => Row): Corruption {
  return replace(place, (before) => [before, { ...before, ...changes(before) }])
}

function called<Name>(keyCalled: (name: Name) => Key): (name: Name) => Place {
  return (name) => () => keyCalled(name)
}
