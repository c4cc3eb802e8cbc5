import { retryingTable, type TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import type { Key } from '../../shared/table/keys.ts'
import type { Step } from '../../shared/table/step.ts'
import type { QueryInput, Reads } from '../../shared/table/table.ts'
import type { TestDeps } from './test-deps.ts'

/** One request to the table. Each retry is a request of its own. */
export type TableCall =
  | { readonly name: 'get'; readonly keys: readonly Key[] }
  | { readonly name: 'batchGet'; readonly keys: readonly Key[]; readonly reads: Reads | undefined }
  | { readonly name: 'query'; readonly query: QueryInput }
  /** A write of a single step has the name of its kind. */
  | { readonly name: Step['kind']; readonly steps: readonly Step[] }
  | { readonly name: 'transact'; readonly steps: readonly Step[] }

type Hooks = {
  /** Runs before the request is sent. If it throws, the request never arrives. */
  readonly before?: (call: TableCall) => unknown
  /** Runs after an applied request, before its answer. If it throws, the answer is lost. */
  readonly after?: (call: TableCall) => unknown
  readonly asQuery?: (query: QueryInput) => QueryInput
}

const isRefusal = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'applied' in answer && answer.applied === false

type Around = <Answer>(call: TableCall, send: () => Promise<Answer>) => Promise<Answer>

/** A table whose requests are sent by `around`. */
export const requestsAround = (real: TableRequests, around: Around): TableRequests => ({
  get: (key, some) => around({ name: 'get', keys: [key] }, () => real.get(key, some)),
  batchGet: (keys, reads) => around({ name: 'batchGet', keys, reads }, () => real.batchGet(keys, reads)),
  query: (query) => around({ name: 'query', query }, () => real.query(query)),
  write: (step) => around({ name: step.kind, steps: [step] }, () => real.write(step)),
  transact: (steps) => around({ name: 'transact', steps }, () => real.transact(steps)),
  isContention: real.isContention,
})

const hooked = (real: TableRequests, { before, after, asQuery = (query) => query }: Hooks): TableRequests =>
  requestsAround({ ...real, query: (query) => real.query(asQuery(query)) }, async (call, send) => {
    await before?.(call)
    const answer = await send()
    if (!isRefusal(answer)) await after?.(call)
    return answer
  })

/** The same deps on other requests, with their own retries and memory. */
export const withRequests = (deps: TestDeps, requests: TableRequests): TestDeps => ({
  ...deps,
  requests,
  memory: {},
  table: retryingTable(requests, deps),
})

/** The same table with hooks around each request. The given deps keep working without them. */
export const interceptTable = (deps: TestDeps, hooks: Hooks): TestDeps =>
  withRequests(deps, hooked(deps.requests, hooks))

/** The same table, and a list of all requests to it. */
export const recordTable = (deps: TestDeps): { readonly deps: TestDeps; readonly calls: TableCall[] } => {
  const calls: TableCall[] = []
  return { deps: interceptTable(deps, { before: (call) => calls.push(call) }), calls }
}

export const queriesIn = (calls: readonly TableCall[]): readonly QueryInput[] =>
  calls.flatMap((call) => ('query' in call ? [call.query] : []))

/** The keys of every item that recorded calls wrote or tried to write, in order. */
export const writtenKeys = (calls: readonly TableCall[]): readonly Key[] =>
  calls.flatMap((call) =>
    'steps' in call ? call.steps.flatMap(({ kind, key }) => (kind === 'check' ? [] : [key])) : [],
  )

/** Runs `other` just before the first request of this kind. */
export const beforeFirst = (deps: TestDeps, kind: TableCall['name'], other: () => Promise<unknown>): TestDeps => {
  let done = false
  const before = async ({ name }: TableCall) => {
    if (done || name !== kind) return
    done = true
    await other()
  }
  return interceptTable(deps, { before })
}

/** Every request of this kind fails: it never arrives (`before`), or its answer is lost (`after`). */
export const failingOn = (deps: TestDeps, kind: TableCall['name'], when: 'before' | 'after'): TestDeps =>
  interceptTable(deps, {
    [when]: ({ name }: TableCall) => {
      if (name === kind) throw new Error('the table cannot be reached')
    },
  })
