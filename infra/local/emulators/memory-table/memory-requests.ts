import { setImmediate as yieldToOtherWork } from 'node:timers/promises'
import { isContention } from '../../../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../../../shared/runtime/aws/retrying-table.ts'
import { countsUnits, noteUnits } from '../../../../shared/table/used-units.ts'
import type { LocalTable } from '../local-table.ts'
import { createMemoryTable, type MemoryTable } from './memory-table.ts'

/** Transports a request and its answer. Simulations add latency, throttles, conflicts and crashes here. */
export type Carry = <Answer>(name: string, run: () => Answer) => Promise<Answer>

/** The table in memory as single requests. The port's retries work on it as on DynamoDB. */
export function memoryRequests(
  table: Pick<MemoryTable, 'requests' | 'lastUse'>,
  carry: Carry = async (_, run) => run(),
): TableRequests {
  const { requests } = table
  const counted = countedCarry(table, carry)
  return {
    get: (key, some) => counted('get', () => requests.get(key, some)),
    batchGet: (keys, reads) => counted('batchGet', () => requests.batchGet(keys, reads)),
    query: (input) => counted('query', () => requests.query(input)),
    write: (step) => counted('write', () => requests.write(step)),
    transact: (steps) => counted('transact', () => requests.transact(steps)),
    isContention,
  }
}

/** Adds the units that DynamoDB would report for the request to the caller's count. */
export function countedCarry(table: Pick<MemoryTable, 'lastUse'>, carry: Carry): Carry {
  return async (name, run) => {
    if (!countsUnits()) return carry(name, run)
    const { answer, units } = await carry(name, () => {
      const given = run()
      return { answer: given, units: table.lastUse().reported }
    })
    noteUnits(units)
    return answer
  }
}

/** The gateway's table in this process. `why` is the reason if the user did not choose it. */
export function openMemoryTable(why?: string): LocalTable {
  return {
    // Each request yields to other work, as a network request would.
    requests: memoryRequests(createMemoryTable({ indexes: 'immediate' }), async (_, run) => {
      await yieldToOtherWork()
      return run()
    }),
    place: `in the memory of this process${why === undefined ? '' : `: ${why}`}`,
    exited: new Promise(() => undefined),
    close: async () => undefined,
  }
}
