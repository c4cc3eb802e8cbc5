import type { FunctionSpec } from '../../../functions/function-spec.ts'
import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { type Partition, pkPrefix } from '../../../shared/table/keys.ts'
import { exists, put, remove, updateFields } from '../../../shared/table/step.ts'
import { keyOfRow } from '../../support/tampering.ts'
import type { Prng } from '../world/prng.ts'
import type { World } from '../world/world.ts'

/** Undefined: nothing of this kind is stored. */
export function drawWrite(
  { table }: Pick<World, 'table'>,
  prng: Prng,
  { updates }: FunctionSpec,
  { action, kind }: Grant,
) {
  const rows = table.items(pkPrefix(kind))
  if (rows.length === 0) return undefined
  const row = prng.pick(rows)
  if (action === 'DeleteItem') return remove(keyOfRow(row), exists)
  if (action === 'PutItem') return forgedPut(prng, kind, rows, row)
  const clients = prng.chance(0.3) ? table.items(pkPrefix('CLIENT')) : []
  return forgedUpdate(prng, { rows, row, clients, names: updates[kind] ?? [] })
}

const ACTIONS = ['PutItem', 'UpdateItem', 'UpdateFields', 'DeleteItem'] as const

/** What a role may write: an action and a kind of item. Generated from the manifest. */
export function writesOf({ table }: FunctionSpec) {
  return ACTIONS.flatMap((action) => (table[action] ?? []).map((kind) => ({ action, kind })))
}

type Grant = ReturnType<typeof writesOf>[number]

/** A stored row in the place of itself, of another row of its kind, or of none. */
function forgedPut(prng: Prng, kind: Partition, rows: readonly StoredItem[], row: StoredItem) {
  const other = prng.pick(rows)
  const fresh = { pk: `${pkPrefix(kind)}${prng.uuid()}`, sk: String(row['sk']) }
  const key = prng.pick([keyOfRow(row), keyOfRow(row), keyOfRow(other), fresh])
  const { pk: _, sk: __, ...attributes } = prng.chance(0.6) ? exchanged(row, other) : row
  const forged = { ...attributes }
  for (const name of Object.keys(attributes))
    if (prng.chance(0.1)) forged[name] = forgedValue(prng, rows, name, attributes[name])
  return put(key, forged)
}

/** The row as if it belonged to the client of the other one. */
function exchanged(row: StoredItem, other: StoredItem) {
  const owner = ['owner', 'client_id'].filter((name) => other[name] !== undefined)
  return { ...row, ...Object.fromEntries(owner.map((name) => [name, other[name]])) }
}

type Forging = {
  readonly rows: readonly StoredItem[]
  readonly row: StoredItem
  readonly clients: readonly StoredItem[]
  readonly names: readonly string[]
}

function forgedUpdate(prng: Prng, { rows, row, clients, names }: Forging) {
  const changed = new Map<string, unknown>()
  const removed = new Set<string>()
  for (let count = prng.int(1, 4); count > 0 && names.length > 0; count--) {
    const name = prng.pick(names)
    const client = clients.length > 0 ? prng.pick(clients)['client_id'] : undefined
    const value = client ?? forgedValue(prng, rows, name, row[name])
    if (value === undefined) removed.add(name)
    else changed.set(name, value)
  }
  for (const name of changed.keys()) removed.delete(name)
  return updateFields(
    keyOfRow(row),
    { set: Object.fromEntries(changed), remove: [...removed] },
    exists,
  )
}

const DAYS_MS = [-30, -8, -1, 1, 8, 30].map((days) => days * 86_400_000)

/** Mostly a value of another row; undefined removes the attribute. */
function forgedValue(prng: Prng, rows: readonly StoredItem[], name: string, value: unknown) {
  if (prng.chance(0.15)) return undefined
  const values = rows.map((row) => row[name]).filter((other) => other !== undefined)
  if (values.length > 0 && prng.chance(0.6)) return prng.pick(values)
  if (typeof value === 'number') return prng.pick([0, -value, value * 10, value + 1_000_000])
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value))
    return new Date(Date.parse(value) + prng.pick(DAYS_MS)).toISOString()
  return typeof value === 'boolean' ? !value : value
}
