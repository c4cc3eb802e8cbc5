import { slotOf } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { entriesOf } from '../../../shared/posting/payment-entries.ts'
import { auditRecordPk, entryKey, type Key, shardKey } from '../../../shared/table/keys.ts'
import { LEDGER_SHARDS } from '../../../shared/table/schema.ts'
import { testDeps } from '../../support/test-deps.ts'
import { type AuditedHistory, auditedHistory } from './audited-history.ts'
import { type RawRow, rawRows } from './raw-rows.ts'

export let history: AuditedHistory
export let rows: Awaited<ReturnType<typeof rawRows>>
/** Makes the history that is corrupted, once for a file. */
export const makeHistory = async (): Promise<void> => {
  history = await auditedHistory(testDeps())
  rows = await rawRows(history.deps)
}

export const paymentCalled = (name: string) => {
  const payment = history.payments[name]
  if (payment === undefined) throw new Error(`there is no payment ${name}`)
  return payment
}

/** The key of the entry of a type that a payment has. */
export const entryOf = async (name: string, type: string): Promise<Key> => {
  const payment = await findStoredPayment(history.deps, paymentCalled(name).paymentId)
  if (payment === undefined || payment.status === 'creating') throw new Error(`there is no payment ${name}`)
  const entry = entriesOf(payment).find((one) => one.type === type)
  if (entry === undefined) throw new Error(`${name} has no entry ${type}`)
  return entryKey(payment, entry)
}

export const recordKeys = async (subject: string): Promise<readonly Key[]> =>
  (await rows.partition(auditRecordPk(subject))).map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }))

export const firstOf = (keys: readonly Key[]): Key => {
  const [key] = keys
  if (key === undefined) throw new Error('there is no such row')
  return key
}

export const clientId = () => history.client.clientId
export const shardOf = (name: string) => shardKey(clientId(), slotOf(paymentCalled(name).paymentId, LEDGER_SHARDS))
export const settlement = (name: keyof AuditedHistory['settlements']) => history.settlements[name].settlementId

/** Rows as they were, to be put back. */
export type Undo = () => Promise<void>

export const change = async (key: Key, changes: RawRow): Promise<Undo> => {
  const before = await rows.read(key)
  await rows.write({ ...before, ...changes })
  return () => rows.write(before)
}

export const add = async (key: Key, attribute: string, amount: number): Promise<Undo> => {
  const before = await rows.read(key)
  return change(key, { [attribute]: Number(before[attribute] ?? 0) + amount })
}

export const lose = async (key: Key, attribute?: string): Promise<Undo> => {
  const before = await rows.read(key)
  if (attribute === undefined) await rows.remove(key)
  else await rows.write(Object.fromEntries(Object.entries(before).filter(([name]) => name !== attribute)))
  return () => rows.write(before)
}

/** A copy of a row under another key. */
export const copy = async (key: Key, changes: RawRow): Promise<Undo> => {
  const forged = { ...(await rows.read(key)), ...changes }
  await rows.write(forged)
  return () => rows.remove({ pk: String(forged['pk']), sk: String(forged['sk']) })
}

export const OTHER_ID = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'

/** What a corruption is called by an audit. `daily`: found within one day, whatever is due. `gate`: what refuses the payout. */
export type Corruption = {
  readonly make: () => Promise<Undo>
  readonly what: RegExp
  readonly daily?: true
  readonly gate?: RegExp
}
