import type { Deps, TableDeps } from '../deps.ts'
import { type IndexName, TABLE_SCHEMA } from '../table/schema.ts'

/** A silent table must not block the cold start; the first request reports it. */
const WARMING_MS = 1_000

/** One empty read warms the client for the first request. Never throws. */
export async function warmTable(deps: Pick<Deps, 'table' | 'sleep'>) {
  await Promise.race([readNothing(deps).catch(() => undefined), deps.sleep(WARMING_MS)])
}

/**
 * The environment of the function names the read. Throws if the role or the table does not allow
 * it.
 */
export async function readNothing({ table }: TableDeps): Promise<unknown> {
  const query = process.env['WARM_QUERY']
  const index = process.env['WARM_INDEX']
  const batchGet = process.env['WARM_BATCH_GET']
  const get = process.env['WARM_GET']
  // Only the key, because the function may be granted only some fields.
  if (query !== undefined) return table.query({ partition: [query], limit: 1, fields: ['pk'] })
  if (index !== undefined && isIndex(index))
    return table.query({ index, partition: emptyPartition(index), limit: 1 })
  if (batchGet !== undefined) return table.getMany([emptyKey(batchGet)], 'consistent', [])
  if (get !== undefined) return table.get(emptyKey(get))
  return undefined
}

function isIndex(name: string): name is IndexName {
  return name in TABLE_SCHEMA.indexes
}

function emptyPartition(index: IndexName) {
  return TABLE_SCHEMA.indexes[index].partition.map((name) =>
    TABLE_SCHEMA.attributeTypes[name] === 'N' ? -1 : 'NOTHING',
  )
}

function emptyKey(pk: string) {
  return { pk, sk: 'NOTHING' }
}
