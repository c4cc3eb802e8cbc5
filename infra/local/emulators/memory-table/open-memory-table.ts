import { setImmediate as turn } from 'node:timers/promises'
import type { LocalTable } from '../local-table.ts'
import { memoryRequests } from './memory-requests.ts'
import { createMemoryTable } from './memory-table.ts'

/** The gateway's table in this process. `why` is the reason if the user did not choose it. */
export const openMemoryTable = (why?: string): LocalTable => ({
  // Each request yields to other work, as a network request would.
  requests: memoryRequests(createMemoryTable({ indexes: 'immediate' }), async (_, run) => {
    await turn()
    return run()
  }),
  place: `in the memory of this process${why === undefined ? '' : `: ${why}`}`,
  exited: new Promise(() => undefined),
  close: async () => undefined,
})
