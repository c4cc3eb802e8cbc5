import { eventNamesOf } from '../../../shared/audit/judged/audit-event.ts'
import { slotOf } from '../../../shared/ids.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
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
import { exists, remove } from '../../../shared/table/step.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { testDeps } from '../../support/test-deps.ts'
import { type AuditedHistory, auditedHistory } from './audited-history.ts'

export let history: AuditedHistory
/** Makes the history that is corrupted, once for a file. */
export const makeHistory = async (deps = testDeps()): Promise<void> => {
  history = await auditedHistory(deps)
}

type Row = Readonly<Record<string, unknown>>
/** The key of a row of the history. */
export type Place = () => Key | Promise<Key>

const read = (key: Key): Promise<Row> => rawItem(history.deps, key)
const write = async (row: Row): Promise<void> => void (await putRaw(history.deps, row))
const keyOf = ({ pk, sk }: Row): Key => ({ pk: String(pk), sk: String(sk) })
const erase = async (row: Row): Promise<void> => void (await history.deps.table.write(remove(keyOf(row), exists)))
const firstIn = async (pk: string, isIt: (row: Row) => boolean = () => true): Promise<Key> => {
  const { items } = await history.deps.table.query({ partition: [pk], limit: 100 })
  const found = items.map(toItem).find(isIt)
  if (found === undefined) throw new Error(`there is no such row in ${pk}`)
  return keyOf(found)
}

export const paymentCalled = (name: string) => {
  const payment = history.payments[name]
  if (payment === undefined) throw new Error(`there is no payment ${name}`)
  return payment
}

/** A place that has a name in the history. */
const called =
  <Name>(keyCalled: (name: Name) => Key): ((name: Name) => Place) =>
  (name) =>
  () =>
    keyCalled(name)
export const paymentRow = called((name: string) => paymentKey(paymentCalled(name).paymentId))
/** Of its end, or of a later movement of its money. */
export const eventRow =
  (name: string, nth = 0): Place =>
  () =>
    eventKey(paymentCalled(name).paymentId, eventNamesOf(paymentCalled(name))[nth] ?? '')
export const settlementRow = called((name: keyof AuditedHistory['settlements']) =>
  settlementKey(history.settlements[name].settlementId),
)
export const suspenseRow = called((name: keyof AuditedHistory['suspense']) => suspenseKey(history.suspense[name]))
/** The entry of a type that a payment has. */
export const entryRow =
  (name: string, type: string): Place =>
  async () => {
    const payment = await paymentOf(history.deps, { payment: paymentCalled(name) })
    const entry = entriesOf(payment).find((one) => one.type === type)
    if (entry === undefined) throw new Error(`${name} has no entry ${type}`)
    return entryKey(payment, entry)
  }

export const clientId = () => history.client.clientId
export const clientRow: Place = () => clientKey(clientId())
export const windowRow: Place = () => windowKey(clientId())
export const shardOf = (name: string): number => slotOf(paymentCalled(name).paymentId, LEDGER_SHARDS)
export const shardRow = called((name: string) => shardKey(clientId(), shardOf(name)))
export const houseRow: Place = () =>
  firstIn(houseDayPk(history.houseRowAt.slice(0, 10)), ({ suspense_id: id }) => id === 'py-held')
export const recordRow: Place = () => firstIn(auditRecordPk(history.settlements.paid.settlementId))

/** Puts rows back as they were. */
type Undo = () => Promise<void>
/** A change of rows past every condition, as a person with access to the table makes it. */
export type Corruption = () => Promise<Undo>

/** Other rows in place of a row, under its key or under others. */
const replace =
  (place: Place, alter: (before: Row) => readonly Row[]): Corruption =>
  async () => {
    const before = await read(await place())
    const rows = alter(before)
    await erase(before)
    for (const row of rows) await write(row)
    return async () => {
      for (const row of rows) await erase(row)
      await write(before)
    }
  }

export const change = (place: Place, changes: (before: Row) => Row): Corruption =>
  replace(place, (before) => [{ ...before, ...changes(before) }])

export const set = (place: Place, changes: Row): Corruption => change(place, () => changes)

export const add = (place: Place, attribute: string): Corruption =>
  change(place, ({ [attribute]: before = 0 }) => ({ [attribute]: Number(before) + 1 }))

export const lose = (place: Place): Corruption => replace(place, () => [])

export const loseAttribute = (place: Place, attribute: string): Corruption =>
  replace(place, (row) => [Object.fromEntries(Object.entries(row).filter(([name]) => name !== attribute))])

/** A copy of a row under another key. */
export const copy = (place: Place, changes: (before: Row) => Row): Corruption =>
  replace(place, (before) => [before, { ...before, ...changes(before) }])
