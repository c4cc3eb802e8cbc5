import { setImmediate as yieldToOtherWork } from 'node:timers/promises'
import { isContention } from '../../../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../../../shared/runtime/aws/retrying-table.ts'
import { isCountingUnits, noteUnits } from '../../../../shared/table/used-units.ts'
import type { LocalTable } from '../local-table.ts'
import { createMemoryTable, type MemoryTable } from './memory-table.ts'

/** Simulations add latency, throttles, conflicts and crashes here. */
type Carry = <Answer>(name: string, run: () => Answer) => Promise<Answer>

/** The port's retries work on these requests as on DynamoDB. */
export function memoryRequests(
  table: Pick<MemoryTable, 'requests' | 'lastUse'>,
  carry: Carry = async (_, run) => run(),
): TableRequests {
  const { requests } = table
  const countingCarry = countedCarry(table, carry)
  return {
    get: (key, projection) => countingCarry('get', () => requests.get(key, projection)),
    batchGet: (keys, reads, fields) =>
      countingCarry('batchGet', () => requests.batchGet(keys, reads, fields)),
    query: (input) => countingCarry('query', () => requests.query(input)),
    write: (step) => countingCarry('write', () => requests.write(step)),
    transact: (steps) => countingCarry('transact', () => requests.transact(steps)),
    isContention,
  }
}

export function countedCarry(table: Pick<MemoryTable, 'lastUse'>, carry: Carry): Carry {
  return async (name, run) => {
    if (!isCountingUnits()) return carry(name, run)
    const { answer, units } = await carry(name, () => {
      const result = run()
      return { answer: result, units: table.lastUse().reported }
    })
    noteUnits(units)
    return answer
  }
}

/** `reason` says why, if the user did not choose memory. */
export function openMemoryTable(reason?: string): LocalTable {
  return {
    requests: memoryRequests(createMemoryTable({ indexes: 'immediate' }), async (_, run) => {
      await yieldToOtherWork()
      return run()
    }),
    place: `in the memory of this process${reason === undefined ? '' : `: ${reason}`}`,
    exitOutput: new Promise(() => undefined),
    close: async () => undefined,
  }
}
