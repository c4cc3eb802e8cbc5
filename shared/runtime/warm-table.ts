import type { Deps } from '../deps.ts'
import { type IndexName, TABLE_SCHEMA } from '../table/schema.ts'

/** Starting must not hang on a table that does not answer: the first request will say what is wrong. */
const WARMING_MS = 1_000

/**
 * One read by key and then one query, both of nothing. The first request then finds an open connection and a client that
 * has signed and parsed before. The bundler puts in which of them the function may make
 * (infra/stack/functions/assets-of.ts). A function that may make none is not warmed. Never throws.
 */
export const warmTable = async (deps: Pick<Deps, 'table' | 'sleep'>): Promise<void> => {
  await Promise.race([makeReads(deps).catch(() => undefined), deps.sleep(WARMING_MS)])
}

/** One after the other: a second connection would take more time than the first read. */
const makeReads = async ({ table }: Pick<Deps, 'table'>): Promise<void> => {
  const batchGet = process.env['WARM_BATCH_GET']
  const get = process.env['WARM_GET']
  const query = process.env['WARM_QUERY']
  const index = process.env['WARM_INDEX']
  if (batchGet !== undefined) await table.getMany([nothingIn(batchGet)])
  if (get !== undefined) await table.get(nothingIn(get))
  if (query !== undefined) await table.query({ partition: [query], limit: 1 })
  if (index !== undefined && isIndex(index)) await table.query({ index, partition: emptyPartition(index), limit: 1 })
}

const nothingIn = (pk: string) => ({ pk, sk: 'NOTHING' })

const isIndex = (name: string): name is IndexName => name in TABLE_SCHEMA.indexes

const emptyPartition = (index: IndexName): readonly unknown[] =>
  TABLE_SCHEMA.indexes[index].partition.map((name) => (TABLE_SCHEMA.attributeTypes[name] === 'N' ? -1 : 'NOTHING'))
