import { shardOf } from '../../../shared/ledger/shard-store.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import {
  clientKey,
  houseDayPk,
  type Key,
  notedKey,
  paymentKey,
  settlementKey,
  suspenseKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { entryKeyOf } from '../../support/money-rows.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { keyOfRow } from '../../support/tampering.ts'
import { ownDeps, type TestDeps } from '../../support/test-deps.ts'
import { auditedHistory } from './audited-history.ts'

/* Where the rows of the audited history are. */

type AuditedHistory = Awaited<ReturnType<typeof auditedHistory>>

export let history: AuditedHistory

export async function makeHistory(deps = ownDeps()) {
  history = await auditedHistory(deps)
}

/** Onto a table that has the same rows. */
export function moveHistory(deps: TestDeps) {
  history = { ...history, deps }
}

function paymentCalled(name: string) {
  const payment = history.payments[name]
  if (payment === undefined) throw new Error(`there is no payment ${name}`)
  return payment
}

export type Place = () => Key | Promise<Key>

export const paymentRow = placeBy((name: string) => paymentKey(paymentCalled(name).paymentId))

export const settlementRow = placeBy((name: keyof AuditedHistory['settlements']) =>
  settlementKey(history.settlements[name].settlementId),
)
export const suspenseRow = placeBy((name: keyof AuditedHistory['suspense']) =>
  suspenseKey(history.suspense[name]),
)

export const notedRow = placeBy((name: keyof AuditedHistory['suspense']) =>
  notedKey({ clientId: historyClientId(), suspenseId: history.suspense[name] }),
)

export function entryRow(name: string, type: string) {
  return async () => {
    const payment = await paymentOf(history.deps, { payment: paymentCalled(name) })
    return entryKeyOf(payment, type)
  }
}

export function historyClientId() {
  return history.client.clientId
}

export function clientRow() {
  return clientKey(historyClientId())
}

export function windowRow() {
  return windowKey(historyClientId())
}

export const shardRow = placeBy((name: string) => shardOf(paymentCalled(name)))

export function houseRow() {
  return firstIn(
    houseDayPk(history.houseRowAt.slice(0, 10)),
    ({ suspense_id: id }) => id === 'py-held',
  )
}
export type Row = Readonly<Record<string, unknown>>

export async function firstIn(pk: string, isWanted: (row: Row) => boolean = () => true) {
  const row = (await history.deps.table.query({ partition: [pk], limit: 100 })).items
    .map(toItem)
    .find(isWanted)
  if (row === undefined) throw new Error(`there is no such row in ${pk}`)
  return keyOfRow(row)
}

function placeBy<Name>(keyCalled: (name: Name) => Key): (name: Name) => Place {
  return (name) => () => keyCalled(name)
}
