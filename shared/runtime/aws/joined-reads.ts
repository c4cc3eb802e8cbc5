import type { Item } from '../../table/attributes.ts'
import type { Key } from '../../table/keys.ts'
import type { Reads } from '../../table/table.ts'
import { BATCH_LIMIT, identity, type TableRequests } from './retrying-table.ts'

type Answer = { readonly items: readonly Item[]; readonly unprocessed: readonly Key[] }
type Joined = { readonly keys: Map<string, Key>; readonly answer: Promise<Answer> }

/** Waits until the work that is already queued has run. */
const afterQueuedWork = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The part of an answer for these keys. */
const partOf = ({ items, unprocessed }: Answer, keys: readonly Key[]): Answer => {
  const own = new Set(keys.map(identity))
  const isOwn = (one: Parameters<typeof identity>[0]) => own.has(identity(one))
  return { items: items.filter(isOwn), unprocessed: unprocessed.filter(isOwn) }
}

/**
 * Joins concurrent batch reads into one request that names each item once, for example for a batch of messages. A
 * caller never joins a request that was already sent. A failed request fails for all its callers.
 */
export const joinedReads = (requests: TableRequests): TableRequests => {
  const open = new Map<Reads, Joined>()

  const begin = (reads: Reads): Joined => {
    const keys = new Map<string, Key>()
    const ask = async () => {
      await afterQueuedWork()
      if (open.get(reads) === joined) open.delete(reads)
      return requests.batchGet([...keys.values()], reads)
    }
    const joined: Joined = { keys, answer: ask() }
    open.set(reads, joined)
    return joined
  }

  return {
    ...requests,
    batchGet: async (keys, reads = 'consistent') => {
      const current = open.get(reads)
      const joined = current && current.keys.size + keys.length <= BATCH_LIMIT ? current : begin(reads)
      for (const key of keys) joined.keys.set(identity(key), key)
      return partOf(await joined.answer, keys)
    },
  }
}
