import { setImmediate as turn } from 'node:timers/promises'
import type { LocalTable } from '../local-table.ts'
import { memoryRequests } from './memory-requests.ts'
import { createMemoryTable } from './memory-table.ts'

/** The gateway's table in this process, gone with it. `why` is the reason if it was not asked for. */
export const openMemoryTable = (why?: string): LocalTable => ({
  // A request lets other work have its turn, as one over the network would.
  requests: memoryRequests(createMemoryTable({ indexes: 'immediate' }), async (_, run) => {
    await turn()
    return run()
  }),
  place: `in the memory of this process${why === undefined ? '' : `: ${why}`}`,
  exited: new Promise(() => undefined),
  close: async () => undefined,
})
