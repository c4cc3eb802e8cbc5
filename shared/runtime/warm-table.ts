import type { Deps } from '../deps.ts'

/** Starting must not hang on a table that does not answer: the first request will say what is wrong. */
const WARMING_MS = 1_000

/**
 * One read of an item that is not there, so that the first request finds a connection that is open and a client that has
 * signed before. The bundler puts in which read the function may make (infra/stack/functions/assets-of.ts); one that may
 * make none is not warmed. Never throws.
 */
export const warmTable = async ({ table, sleep }: Pick<Deps, 'table' | 'sleep'>): Promise<void> => {
  const batchGet = process.env['WARM_BATCH_GET']
  const get = process.env['WARM_GET']
  const reads = [
    ...(batchGet === undefined ? [] : [table.getMany([nothingIn(batchGet)])]),
    ...(get === undefined ? [] : [table.get(nothingIn(get))]),
  ]
  if (reads.length > 0) await Promise.race([Promise.allSettled(reads), sleep(WARMING_MS)])
}

const nothingIn = (pk: string) => ({ pk, sk: 'NOTHING' })
