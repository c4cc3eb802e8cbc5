import { randomUUID } from 'node:crypto'
import type { Condition } from '../../../shared/table/condition.ts'
import { type Changes, put, remove, type Step, update } from '../../../shared/table/step.ts'
import type { QueryInput } from '../../../shared/table/table.ts'
import { run, type TableBackend } from './table-backend.ts'

export type Key = { readonly pk: string; readonly sk: string }

/** A key that no other test has. */
export const aKey = (): Key => ({ pk: `conformance-${randomUUID()}`, sk: 'ITEM' })

type Item = Readonly<Record<string, unknown>>

/** What a write that was applied answers; an update also the item as it is now. */
export const APPLIED = { applied: true, item: undefined } as const
export const refused = (item?: Item) => ({ applied: false, item }) as const

/** Requests to one table, as the stores make them: each answers what it came to. */
export type TableCommands = ReturnType<typeof tableCommands>

export const tableCommands = ({ requests }: TableBackend) => {
  const write = (step: Step) => run(() => requests.write(step))
  return {
    write,
    put: (key: Key, item: Item, condition?: Condition) => write(put(key, item, condition)),
    update: (key: Key, changes: Changes, condition?: Condition) => write(update(key, changes, condition)),
    remove: (key: Key, condition: Condition) => write(remove(key, condition)),
    transact: (steps: readonly Step[]) => run(() => requests.transact(steps)),
    /** The item as it is, or undefined. */
    get: (key: Key) => run(() => requests.get(key)),
    batchGet: (keys: readonly Key[]) => run(() => requests.batchGet(keys)),
    query: (input: QueryInput) => run(() => requests.query(input)),
  }
}
