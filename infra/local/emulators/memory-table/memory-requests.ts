import { isContention } from '../../../../shared/runtime/aws/dynamodb-table.ts'
import type { TableRequests } from '../../../../shared/runtime/aws/retrying-table.ts'
import type { MemoryTable } from './memory-table.ts'

export type RequestName = keyof MemoryTable['requests']

/** Takes a request to the table and its answer back: latency, throttles, conflicts and crashes are all in it. */
export type Carry = <Answer>(name: RequestName, run: () => Answer) => Promise<Answer>

/** The table in memory below the port's own retries, where DynamoDB is in deployment. */
export const memoryRequests = (
  { requests }: Pick<MemoryTable, 'requests'>,
  carry: Carry = async (_, run) => run(),
): TableRequests => ({
  get: (key, some) => carry('get', () => requests.get(key, some)),
  batchGet: (keys, reads) => carry('batchGet', () => requests.batchGet(keys, reads)),
  query: (input) => carry('query', () => requests.query(input)),
  write: (step) => carry('write', () => requests.write(step)),
  transact: (steps) => carry('transact', () => requests.transact(steps)),
  isContention,
})
