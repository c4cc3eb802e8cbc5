import { retryingTable, type TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import type { Key } from '../../shared/table/keys.ts'
import type { Step } from '../../shared/table/step.ts'
import type { QueryInput, Reads } from '../../shared/table/table.ts'
import type { TestDeps } from './test-deps.ts'

/** One request on its way to the table, below the retries: each try is one of these. */
export type TableCall =
  | { readonly name: 'get'; readonly keys: readonly Key[] }
  | { readonly name: 'batchGet'; readonly keys: readonly Key[]; readonly reads: Reads | undefined }
  | { readonly name: 'query'; readonly query: QueryInput }
  /** Of a single step its kind. */
  | { readonly name: Step['kind']; readonly steps: readonly Step[] }
  | { readonly name: 'transact'; readonly steps: readonly Step[] }

type Hooks = {
  /** Runs before the request is sent; throwing is a request that never arrived. */
  readonly before?: (call: TableCall) => unknown
  /** Runs when something was done but no caller has the answer yet; throwing is an answer that was lost. */
  readonly after?: (call: TableCall) => unknown
  /** What is asked in place of a query. */
  readonly asQuery?: (query: QueryInput) => QueryInput
}

const isRefusal = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'applied' in answer && answer.applied === false

const hooked = (real: TableRequests, { before, after, asQuery = (query) => query }: Hooks): TableRequests => {
  const around = async <Answer>(call: TableCall, send: () => Promise<Answer>): Promise<Answer> => {
    await before?.(call)
    const answer = await send()
    if (!isRefusal(answer)) await after?.(call)
    return answer
  }
  return {
    get: (key, some) => around({ name: 'get', keys: [key] }, () => real.get(key, some)),
    batchGet: (keys, reads) => around({ name: 'batchGet', keys, reads }, () => real.batchGet(keys, reads)),
    query: (query) => around({ name: 'query', query }, () => real.query(asQuery(query))),
    write: (step) => around({ name: step.kind, steps: [step] }, () => real.write(step)),
    transact: (steps) => around({ name: 'transact', steps }, () => real.transact(steps)),
    isContention: real.isContention,
  }
}

/** The same deps on other requests, with retries and a memory of their own above them. */
export const withRequests = (deps: TestDeps, requests: TableRequests): TestDeps => ({
  ...deps,
  requests,
  memory: {},
  table: retryingTable(requests, deps),
})

/**
 * The same table, with something happening between its adapter and it: another writer who comes first, a crash, a slow
 * answer. The deps given keep working without the hooks.
 */
export const interceptTable = (deps: TestDeps, hooks: Hooks): TestDeps =>
  withRequests(deps, hooked(deps.requests, hooks))

/** The same table, and a list of every request sent to it. */
export const recordTable = (deps: TestDeps): { readonly deps: TestDeps; readonly calls: TableCall[] } => {
  const calls: TableCall[] = []
  return { deps: interceptTable(deps, { before: (call) => calls.push(call) }), calls }
}

/** The query, of calls that are one. */
export const queriesIn = (calls: readonly TableCall[]): readonly QueryInput[] =>
  calls.flatMap((call) => ('query' in call ? [call.query] : []))

/** The keys of every item that recorded calls wrote or tried to write, in order. */
export const writtenKeys = (calls: readonly TableCall[]): readonly Key[] =>
  calls.flatMap((call) =>
    'steps' in call ? call.steps.flatMap(({ kind, key }) => (kind === 'check' ? [] : [key])) : [],
  )

/** Lets the other one do its part just before the first write of this kind. */
export const beforeFirst = (deps: TestDeps, kind: TableCall['name'], other: () => Promise<unknown>): TestDeps => {
  let done = false
  const before = async ({ name }: TableCall) => {
    if (done || name !== kind) return
    done = true
    await other()
  }
  return interceptTable(deps, { before })
}

/** Every request of this kind fails: it never arrives, or its answer is lost. */
export const failingOn = (deps: TestDeps, kind: TableCall['name'], when: 'before' | 'after'): TestDeps =>
  interceptTable(deps, {
    [when]: ({ name }: TableCall) => {
      if (name === kind) throw new Error('the table cannot be reached')
    },
  })
