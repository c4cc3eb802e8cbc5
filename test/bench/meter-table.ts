import { memoryRequests } from '../../infra/local/emulators/memory-table/memory-requests.ts'
import {
  createMemoryTable,
  type MemoryTable,
} from '../../infra/local/emulators/memory-table/memory-table.ts'
import { indexEntries } from '../../infra/local/emulators/memory-table/request-use.ts'
import { itemSize } from '../../infra/local/emulators/memory-table/stored-item.ts'
import { testDeps } from '../support/test-deps.ts'

export type Units = { readonly reads: number; readonly writes: number }

/** Numbers by name: `calls transact`, `writes PAYMENT`, `writes PAYMENT/by-due`, `reads CLIENT`. */
export type Detail = Readonly<Record<string, number>>

/** What is billed on top of each item, and of each entry of an index, while it is stored. */
const STORED_OVERHEAD = 100

/**
 * Counts, from now on, what DynamoDB would bill for the requests to a table in memory, by its
 * published rules.
 */
export function meterTable(table: MemoryTable) {
  let counted: Record<string, number> = {}
  const writtenIn = new Map<string, number>()
  const add = (name: string, units: number) => {
    if (units > 0) counted[name] = (counted[name] ?? 0) + units
  }
  const count = <Answer>(call: string, answer: Answer) => {
    add(`calls ${call}`, 1)
    for (const { sort, what, partition, units } of table.lastUse().parts) {
      add(`${sort} ${what}`, units)
      if (sort === 'writes') writtenIn.set(partition, (writtenIn.get(partition) ?? 0) + units)
    }
    return answer
  }
  const { get, batchGet, query, write, transact } = table.requests
  const metered: MemoryTable['requests'] = {
    get: (key, some) => count('get', get(key, some)),
    batchGet: (...asked) => count('batchGet', batchGet(...asked)),
    query: (input) => count('query', query(input)),
    write: (step) => count(step.kind, write(step)),
    transact: (steps) => count('transact', transact(steps)),
  }
  Object.assign(table.requests, metered)
  return {
    writtenIn: writtenIn as ReadonlyMap<string, number>,
    take: (): Units & { readonly detail: Detail } => {
      const detail = counted
      counted = {}
      return { reads: unitsIn(detail, 'reads'), writes: unitsIn(detail, 'writes'), detail }
    },
  }
}

export function unitsIn(detail: Detail, sort: string) {
  return Object.entries(detail).reduce(
    (sum, [name, units]) => sum + (name.startsWith(`${sort} `) ? units : 0),
    0,
  )
}

/** A gateway whose table is metered, on a stopped clock: no run reaches its time limit. */
export function meteredDeps() {
  const memory = createMemoryTable({ indexes: 'immediate' })
  const log = { info: silent, warn: silent, error: silent }
  return {
    memory,
    meter: meterTable(memory),
    deps: testDeps({ log, requests: memoryRequests(memory) }),
  }
}

function silent() {
  return undefined
}

export function storedBytes(table: Pick<MemoryTable, 'items'>) {
  return table
    .items()
    .flatMap((item) => [itemSize(item), ...indexEntries(item).map(itemSize)])
    .reduce((sum, bytes) => sum + bytes + STORED_OVERHEAD, 0)
}
