import { setImmediate as turn } from 'node:timers/promises'
import type { LocalTable } from '../local-table.ts'
import { memoryRequests } from './memory-requests.ts'
import { createMemoryTable } from './memory-table.ts'
import { streamRecord } from './stream-record.ts'
import type { TableChange } from './table-view.ts'

/** A reader that comes late, or falls further behind, misses older changes; a stream of DynamoDB keeps a day of them. */
const KEPT_CHANGES = 20_000
const PAGE = 1_000

/** The gateway's table in this process, gone with it. `why` is the reason if it was not asked for. */
export const openMemoryTable = (why?: string): LocalTable => {
  const changes: TableChange[] = []
  const table = createMemoryTable({
    indexes: 'immediate',
    onChange: (change) => {
      changes.push(change)
      if (changes.length > 2 * KEPT_CHANGES) changes.splice(0, KEPT_CHANGES)
    },
  })
  return {
    // A request lets other work have its turn, as one over the network would.
    requests: memoryRequests(table, async (_, run) => {
      await turn()
      return run()
    }),
    openStream: async () => {
      let last = 0
      return {
        read: async (handle) => {
          const from = Math.max(last + 1 - (changes[0]?.sequence ?? 1), 0)
          const page = changes.slice(from, from + PAGE)
          if (page.length > 0) await handle(page.map(streamRecord))
          last = page.at(-1)?.sequence ?? last
          return page.length > 0
        },
        close: () => undefined,
      }
    },
    place: `in the memory of this process${why === undefined ? '' : `: ${why}`}`,
    exited: new Promise(() => undefined),
    close: async () => undefined,
  }
}
