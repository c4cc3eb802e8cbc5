import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ClientId } from '../ids.ts'
import type { Item } from '../table/attributes.ts'
import { entryKey } from '../table/keys.ts'
import { isNew, put, type Step } from '../table/step.ts'
import { ENTRY_SIDES, type Entry, EntrySchema } from './entry.ts'

type Owner = { readonly clientId: ClientId; readonly part?: number | undefined }

const AMOUNTS: ReadonlySet<string> = new Set(ENTRY_SIDES)

/** Writes an entry, once. Nothing updates or deletes it; no role may. */
export function putEntry(owner: Owner, entry: Entry): Step {
  return put(entryKey(owner, entry), toEntryItem(entry), isNew)
}

/** What the key contains and sides of zero are left out: a settlement reads many thousand entries. */
function toEntryItem({ entryId: _id, eligibleAt: _at, ...entry }: Entry): object {
  return Object.fromEntries(
    Object.entries(entry).filter(([field, value]) => value !== 0 || !AMOUNTS.has(field)),
  )
}

export function parseEntry(item: Item): Entry {
  const [eligibleAt, entryId] = String(item['sk']).split('#')
  return v.parse(EntrySchema, { ...item, eligibleAt, entryId })
}

export type EntryPosition = v.InferOutput<typeof PositionSchema>

/** The entry of a place, read consistently; undefined where there is none. */
export async function findEntry(
  deps: TableDeps,
  owner: Owner,
  position: EntryPosition,
): Promise<Entry | undefined> {
  const item = await deps.table.get(entryKey(owner, position))
  return item && parseEntry(item)
}

export const PositionSchema = v.pick(EntrySchema, ['eligibleAt', 'entryId'])
