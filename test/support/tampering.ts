import type { Settlement } from '../../shared/settlement/settlement.ts'
import { toItem } from '../../shared/table/attributes.ts'
import { deflateText, inflateText } from '../../shared/table/deflated-text.ts'
import { auditRecordPk, type Key, settlementKey } from '../../shared/table/keys.ts'
import { type Changes, exists, put, remove, type Step, update } from '../../shared/table/step.ts'
import { addMs, type Timestamp } from '../../shared/time.ts'
import type { TestDeps } from './test-deps.ts'

export type Raw = Record<string, unknown>

type Tampering = { readonly name: string; readonly item: Raw }

export async function rawItem(deps: TestDeps, key: Key): Promise<Raw> {
  const item = await deps.table.get(key)
  if (item === undefined) throw new Error(`there is no ${key.pk}`)
  return toItem(item)
}

export function putRaw(deps: TestDeps, item: Raw) {
  return deps.table.write(put(keyOfRow(item), item))
}

export function keyOfRow({ pk, sk }: Raw): Key {
  return { pk: String(pk), sk: String(sk) }
}

/** Changes attributes of a row that is there, by their names in the table. */
export async function alter(deps: TestDeps, key: Key, fields: object) {
  await putRaw(deps, { ...(await rawItem(deps, key)), ...fields })
}

/** Changes the text of an event. */
export async function alterBody(deps: TestDeps, key: Key, from: string, to: string) {
  const text = String(inflateText((await rawItem(deps, key))['body']))
  await alter(deps, key, { body: deflateText(text.replace(from, to)) })
}

export function alterSettlement(
  deps: TestDeps,
  { settlementId }: Pick<Settlement, 'settlementId'>,
  fields: object,
) {
  return alter(deps, settlementKey(settlementId), fields)
}

/** Changes fields of a row that is there. */
export function changeRow(deps: Pick<TestDeps, 'table'>, key: Key, changes: Changes) {
  return writeTo(deps, update(key, changes, exists))
}

export function erase(deps: Pick<TestDeps, 'table'>, key: Key) {
  return writeTo(deps, remove(key, exists))
}

/** The head of the chain is kept. */
export async function loseRecords(deps: TestDeps, subject: string, from = 0) {
  const { items } = await deps.table.query({ partition: [auditRecordPk(subject)], limit: 10 })
  for (const item of items.slice(from)) await erase(deps, keyOfRow(item))
}

async function writeTo({ table }: Pick<TestDeps, 'table'>, step: Step) {
  if (!(await table.write(step)).applied) throw new Error(`there is no ${step.key.pk}`)
}

const REMOVED = Symbol('removed')

/**
 * Every single change of an item: each value, also nested ones, and each removed attribute. The
 * keys stay.
 */
export function tamperingsOf(item: Raw): readonly Tampering[] {
  const { pk: _, sk: __, ...attributes } = item
  const changed = leaves(attributes).flatMap(([path, value]) =>
    changesOf(value).map((other) => ({
      name: `${path.join('.')} = ${String(other)}`,
      item: replaced(item, path, other) as Raw,
    })),
  )
  // For a count, zero and absent are the same.
  const removed = Object.keys(attributes)
    .filter((name) => attributes[name] !== 0)
    .map((name) => ({ name: `${name} removed`, item: replaced(item, [name], REMOVED) as Raw }))
  return [...changed, ...removed]
}

type Path = readonly (string | number)[]

function leaves(node: unknown, path: Path = []): readonly (readonly [Path, unknown])[] {
  if (Array.isArray(node)) return node.flatMap((inner, index) => leaves(inner, [...path, index]))
  if (typeof node === 'object' && node !== null && !(node instanceof Set)) {
    return Object.entries(node).flatMap(([name, inner]) => leaves(inner, [...path, name]))
  }
  return [[path, node]]
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** For texts of a closed set: another text of the set. */
const OTHER: Readonly<Record<string, string>> = {
  pending: 'expired',
  succeeded: 'failed',
  failed: 'succeeded',
  expired: 'failed',
  cancelled: 'expired',
  estimated: 'actual',
  actual: 'assumed',
  assumed: 'actual',
  recorded: 'manual_paid',
  manual_paid: 'failed',
  auto: 'manual',
  manual: 'auto',
  'payment.succeeded': 'payment.failed',
  'payment.failed': 'payment.expired',
  'payment.expired': 'payment.failed',
  virtual_account: 'qris',
  qris: 'virtual_account',
}

const FAR_TIMES = ['2001-02-03T04:05:06.789Z', '2099-02-03T04:05:06.789Z']

/** The smallest change comes first. */
function changesOf(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') return [value + 1, value - 1, -value - 1]
  if (typeof value !== 'string') return []
  if (TIME.test(value)) return [addMs(value as Timestamp, 1), ...FAR_TIMES]
  if (value in OTHER) return [OTHER[value]]
  return /^[0-9a-f]{8}-/.test(value)
    ? [`${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`]
    : [`${value}x`]
}

function replaced(node: unknown, [at, ...rest]: Path, value: unknown): unknown {
  if (at === undefined) return value
  if (Array.isArray(node))
    return node.map((inner, index) => (index === at ? replaced(inner, rest, value) : inner))
  const entries = Object.entries(node as Raw).flatMap(([name, inner]) => {
    if (name !== at) return [[name, inner]]
    const changed = replaced(inner, rest, value)
    return changed === REMOVED ? [] : [[name, changed]]
  })
  return Object.fromEntries(entries)
}
