import type { TableDeps } from '../deps.ts'
import type { Item } from './attributes.ts'
import type { IndexName } from './schema.ts'
import type { QueryInput } from './table.ts'

type MergedInput = Pick<QueryInput, 'range' | 'limit'> & {
  readonly index: IndexName
  readonly partitions: readonly (readonly unknown[])[]
}

type PartitionRead = {
  readonly partition: readonly unknown[]
  pending: readonly Item[]
  cursor: Item | undefined
  isAtEnd: boolean
}

/** Yields several lists as one list, newest first. */
export async function* mergedPages(
  deps: TableDeps,
  { partitions, ...input }: MergedInput,
): AsyncGenerator<{ readonly items: readonly Item[]; readonly more: boolean }> {
  const reads = partitions.map(
    (partition): PartitionRead => ({ partition, pending: [], cursor: undefined, isAtEnd: false }),
  )
  const readNextPage = async (read: PartitionRead): Promise<void> => {
    const { partition, cursor } = read
    const page = await deps.table.query({ ...input, partition, cursor, newestFirst: true })
    Object.assign(read, {
      pending: page.items,
      cursor: page.cursor,
      isAtEnd: page.cursor === undefined,
    })
  }
  for (let more = true; more; ) {
    await Promise.all(
      reads.filter(({ pending, isAtEnd }) => pending.length === 0 && !isAtEnd).map(readNextPage),
    )
    const openReads = reads.filter(({ isAtEnd }) => !isAtEnd)
    // Unread items may come before an item after the last read item of any list.
    const ends = openReads.map(({ pending }) => pending.at(-1))
    const isNext = (item: Item) => ends.every((end) => end && placeOf(item) >= placeOf(end))
    const next = reads.flatMap(({ pending }) => pending.filter(isNext))
    for (const read of reads) read.pending = read.pending.filter((item) => !isNext(item))
    more = openReads.length > 0
    yield { items: next.toSorted((a, b) => (placeOf(a) > placeOf(b) ? -1 : 1)), more }
  }
}

/** DynamoDB's order is that of the texts, because all values have one length. */
function placeOf({ listedAt, id }: Item) {
  return `${String(listedAt)} ${String(id)}`
}

/** The query limit of each list so that all together answer `limit` items. */
export function shareOf(limit: number, lists: readonly unknown[]) {
  return Math.ceil(limit / lists.length)
}
