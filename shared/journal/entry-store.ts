import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Item } from '../table/attributes.ts'
import { entryKey } from '../table/keys.ts'
import { isNew, put, type Step } from '../table/step.ts'
import { ENTRY_SIDES, type Entry, EntrySchema } from './entry.ts'

const AMOUNTS: ReadonlySet<string> = new Set(ENTRY_SIDES)

/** No role may update or delete an entry. */
export function putEntry(clientId: ClientId, entry: Entry): Step {
  return put(entryKey(clientId, entry), entryRow(entry), isNew)
}

/** Leaves out the key's fields and zero sides: a settlement reads many thousand entries. */
export function entryRow({ entryId: _id, eligibleAt: _at, ...entry }: Entry): object {
  return Object.fromEntries(
    Object.entries(entry).filter(([field, value]) => value !== 0 || !AMOUNTS.has(field)),
  )
}

export function parseEntry(item: Item): Entry {
  const [eligibleAt, entryId] = String(item['sk']).split('#')
  return v.parse(EntrySchema, { ...item, eligibleAt, entryId })
}

export type EntryPosition = v.InferOutput<typeof PositionSchema>

export async function findEntry(
  deps: TableDeps,
  clientId: ClientId,
  position: EntryPosition,
): Promise<Entry | undefined> {
  const item = await deps.table.get(entryKey(clientId, position))
  return item && parseEntry(item)
}

export const PositionSchema = v.pick(EntrySchema, ['eligibleAt', 'entryId'])
