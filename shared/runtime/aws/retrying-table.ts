import { chunks } from '../../chunks.ts'
import type { Deps } from '../../deps.ts'
import type { Item } from '../../table/attributes.ts'
import type { Key } from '../../table/keys.ts'
import type { Step } from '../../table/step.ts'
import {
  type QueryInput,
  type QueryPage,
  type Reads,
  StaleSteps,
  type Steps,
  type Table,
  type TransactOutcome,
  type WriteOutcome,
} from '../../table/table.ts'
import { epochMs, SECOND_MS, type Timestamp } from '../../time.ts'

/** What a table is asked, one request each and none of them twice. DynamoDB answers them, or a table in memory. */
export type TableRequests = {
  /** Strongly consistent, unless only some of its fields are asked for. */
  get(key: Key, some?: SomeFields): Promise<Item | undefined>
  /** Up to 100 items in any order; a missing one is left out, and some keys may be left unprocessed. */
  batchGet(
    keys: readonly Key[],
    reads?: Reads,
  ): Promise<{ readonly items: readonly Item[]; readonly unprocessed: readonly Key[] }>
  query(input: QueryInput): Promise<QueryPage>
  write(step: Step): Promise<WriteOutcome>
  transact(steps: readonly Step[]): Promise<StepsOutcome>
  /** Whether an error says that others were in the way: nothing was written, and another try may succeed. */
  isContention(error: unknown): boolean
}

export type SomeFields = { readonly fields: readonly string[]; readonly consistent: boolean }

export type StepsOutcome =
  | { readonly applied: true }
  /** `refusedAt`: the first step whose condition failed. */
  | { readonly applied: false; readonly refusedAt: number; readonly item: Item | undefined }

type Means = Pick<Deps, 'sleep' | 'random' | 'log' | 'now'>

const CONFLICT_TRIES = 12
const CONFLICT_BASE_MS = 20
const CONFLICT_CAP_MS = 400

/** One line for a write that others were in the way of: how often it was tried again, and whether it gave up. */
const noteContention = ({ log }: Means, retries: number, gaveUp: boolean): void => {
  if (gaveUp) log.warn('write.contended', { retries, gave_up: 1 })
  else if (retries > 0) log.info('write.contended', { retries, gave_up: 0 })
}

type Write<Result> = { readonly attempt: () => Promise<Result>; readonly isStale?: () => boolean }

/** Repeats a write that met another transaction on the same item. The SDK does not, and nothing was written then. */
const retryingContention = async <Result>(
  requests: TableRequests,
  means: Means,
  { attempt, isStale = () => false }: Write<Result>,
): Promise<Result> => {
  for (let tried = 1; ; tried++) {
    // Before the first try, too: what was read for the steps took its time, and an environment may stand still.
    if (isStale()) throw new StaleSteps('a write was not made with the times of long ago')
    try {
      const result = await attempt()
      noteContention(means, tried - 1, false)
      return result
    } catch (error) {
      const contended = requests.isContention(error)
      if (!contended || tried >= CONFLICT_TRIES) {
        noteContention(means, tried - 1, contended)
        throw error
      }
      const ceilingMs = Math.min(CONFLICT_BASE_MS * 2 ** (tried - 1), CONFLICT_CAP_MS)
      // Full jitter: callers that collided once do not collide again in step.
      await means.sleep(Math.ceil(means.random() * ceilingMs))
    }
  }
}

/** What DynamoDB takes in one batch. */
export const BATCH_LIMIT = 100
const BATCH_TRIES = 8
const BATCH_BASE_MS = 25

export const identity = ({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }) => `${String(pk)}\n${String(sk)}`

/**
 * Up to 100 items. Keys that are left unprocessed are asked for again, with jitter, a bounded number of times; then it
 * throws.
 */
const readBatch = async (
  requests: TableRequests,
  { sleep, random }: Means,
  keys: readonly Key[],
  reads: Reads,
): Promise<readonly (Item | undefined)[]> => {
  const found = new Map<string, Item>()
  // A batch that names a key twice is refused.
  let pending: readonly Key[] = [...new Map(keys.map((key) => [identity(key), key])).values()]
  for (let tried = 0; pending.length > 0; tried++) {
    if (tried === BATCH_TRIES) throw new Error('a batch read stayed incomplete')
    if (tried > 0) await sleep(Math.ceil(random() * BATCH_BASE_MS * 2 ** tried))
    const answer = await requests.batchGet(pending, reads)
    for (const item of answer.items) found.set(identity(item), item)
    const unprocessed = new Set(answer.unprocessed.map(identity))
    pending = pending.filter((key) => unprocessed.has(identity(key)))
  }
  return keys.map((key) => found.get(identity(key)))
}

/** What has a passed `ttl` is deleted, whenever the table gets round to it (up to days later). */
const unlessExpired = ({ now }: Means, item: Item | undefined): Item | undefined => {
  const ttl = item?.['ttl'] ?? undefined
  return ttl !== undefined && Number(ttl) * SECOND_MS <= epochMs(now()) ? undefined : item
}

/** Whether an item has expired is seen in it. */
const withTtl = (fields: readonly string[]): readonly string[] => [...new Set([...fields, 'ttl'])]

/** The table port over single requests: asks again where that helps, and bounds how often. */
export const retryingTable = (requests: TableRequests, means: Means): Table => ({
  get: async (key, fields) =>
    unlessExpired(means, await requests.get(key, fields && { fields: withTtl(fields), consistent: true })),
  getFields: async (key, fields) => {
    const some = withTtl(fields)
    const item =
      (await requests.get(key, { fields: some, consistent: false })) ??
      (await requests.get(key, { fields: some, consistent: true }))
    return unlessExpired(means, item)
  },
  getMany: async (keys, reads = 'consistent') => {
    const batches = chunks(keys, BATCH_LIMIT).map((some) => readBatch(requests, means, some, reads))
    return (await Promise.all(batches)).flat().map((item) => unlessExpired(means, item))
  },
  query: async ({ fields, ...input }) => {
    const page = await requests.query({ ...input, ...(fields && { fields: withTtl(fields) }) })
    return { ...page, items: page.items.filter((item) => unlessExpired(means, item)) }
  },
  write: (step) => retryingContention(requests, means, { attempt: () => requests.write(step) }),
  transact: async <Name extends string>(
    steps: Steps<Name>,
    options?: { readonly freshUntil: Timestamp },
  ): Promise<TransactOutcome<Name>> => {
    const names: Name[] = []
    const parts: Step[] = []
    for (const name in steps) {
      const step = steps[name]
      if (!step) continue
      names.push(name)
      parts.push(step)
    }
    const outcome = await retryingContention(requests, means, {
      attempt: () => requests.transact(parts),
      isStale: () => options !== undefined && means.now() > options.freshUntil,
    })
    if (outcome.applied) return outcome
    const refusedBy = names[outcome.refusedAt]
    if (refusedBy === undefined) throw new Error('a step was refused that was not asked for')
    return { applied: false, refusedBy, item: outcome.item }
  },
})
