import { chunks } from '../../chunks.ts'
import type { Deps } from '../../deps.ts'
import type { Item } from '../../table/attributes.ts'
import type { Key } from '../../table/keys.ts'
import type { Step } from '../../table/step.ts'
import type {
  QueryInput,
  QueryPage,
  Reads,
  Steps,
  Table,
  TransactOutcome,
  WriteOutcome,
} from '../../table/table.ts'
import { epochMs, SECOND_MS, type Timestamp } from '../../time.ts'

export type TableRequests = {
  /** A strongly consistent read, unless `some` says otherwise. */
  get(key: Key, some?: SomeFields): Promise<Item | undefined>
  /**
   * Items come in any order, perhaps with other items. Missing items are left out; some keys may
   * stay unprocessed. With `fields`, only these fields of every item.
   */
  batchGet(keys: readonly Key[], reads?: Reads, fields?: readonly string[]): Promise<BatchAnswer>
  query(input: QueryInput): Promise<QueryPage>
  write(step: Step): Promise<WriteOutcome>
  transact(steps: readonly Step[]): Promise<StepsOutcome>
  /** True for a conflict with other writers: nothing was written, and a retry may succeed. */
  isContention(error: unknown): boolean
}

type BatchAnswer = { readonly items: readonly Item[]; readonly unprocessed: readonly Key[] }

export type SomeFields = { readonly fields: readonly string[]; readonly consistent: boolean }

export type StepsOutcome =
  | { readonly applied: true }
  /** `refusedAt`: the first step whose condition failed. */
  | { readonly applied: false; readonly refusedAt: number; readonly item: Item | undefined }

type Means = Pick<Deps, 'sleep' | 'random' | 'log' | 'now'>

const CONFLICT_TRIES = 12
const CONFLICT_BASE_MS = 20
const CONFLICT_CAP_MS = 400

const BATCH_LIMIT = 100

export function retryingTable(requests: TableRequests, means: Means): Table {
  return {
    get: async (key, fields) =>
      unlessExpired(
        means,
        await requests.get(key, fields && { fields: withTtl(fields), consistent: true }),
      ),
    getFields: async (key, fields) => {
      const fieldsRead = withTtl(fields)
      const item =
        (await requests.get(key, { fields: fieldsRead, consistent: false })) ??
        (await requests.get(key, { fields: fieldsRead, consistent: true }))
      return unlessExpired(means, item)
    },
    getMany: async (keys, reads = 'consistent', fields) => {
      // The keys tell which item is which.
      const fieldsRead = fields && withTtl(['pk', 'sk', ...fields])
      const batches = chunks(keys, BATCH_LIMIT).map((batch) =>
        readBatch(requests, means, batch, { reads, fields: fieldsRead }),
      )
      return (await Promise.all(batches)).flat().map((item) => unlessExpired(means, item))
    },
    query: async ({ fields, ...input }) => {
      const page = await requests.query({ ...input, ...(fields && { fields: withTtl(fields) }) })
      return { ...page, items: page.items.filter((item) => unlessExpired(means, item)) }
    },
    write: (step) => retryContention(requests, means, () => requests.write(step)),
    transact: async <Name extends string>(
      steps: Steps<Name>,
      freshUntil?: Timestamp,
    ): Promise<TransactOutcome<Name>> => {
      const names: Name[] = []
      for (const name in steps) if (steps[name]) names.push(name)
      const parts = names.flatMap<Step>((name) => steps[name] ?? [])
      // Checked before the first try too, because the reads may be slow and Lambda may freeze the
      // environment.
      const isStale = () => freshUntil !== undefined && means.now() > freshUntil
      const outcome = await retryContention(requests, means, async () =>
        isStale() ? undefined : requests.transact(parts),
      )
      if (outcome === undefined) return { applied: false, refusedBy: 'stale', item: undefined }
      if (outcome.applied) return outcome
      const refusedBy = names[outcome.refusedAt]
      if (refusedBy === undefined)
        throw new Error('the refused step is not part of the transaction')
      return { applied: false, refusedBy, item: outcome.item }
    },
  }
}

/** An item with a past `ttl` counts as deleted, because DynamoDB deletes it up to days later. */
function unlessExpired({ now }: Means, item: Item | undefined) {
  const ttl = item?.['ttl'] ?? undefined
  return ttl !== undefined && Number(ttl) * SECOND_MS <= epochMs(now()) ? undefined : item
}

function withTtl(fields: readonly string[]) {
  return [...new Set([...fields, 'ttl'])]
}

const BATCH_TRIES = 8
const BATCH_BASE_MS = 25

async function readBatch(
  requests: TableRequests,
  { sleep, random }: Means,
  keys: readonly Key[],
  { reads, fields }: { readonly reads: Reads; readonly fields: readonly string[] | undefined },
) {
  const items = new Map<string, Item>()
  // DynamoDB refuses a batch that names a key twice.
  let pending: readonly Key[] = [...new Map(keys.map((key) => [identity(key), key])).values()]
  for (let tries = 0; pending.length > 0; tries++) {
    if (tries === BATCH_TRIES)
      throw new Error(`a batch read is incomplete after ${BATCH_TRIES} tries`)
    if (tries > 0) await sleep(Math.ceil(random() * BATCH_BASE_MS * 2 ** tries))
    const answer = await requests.batchGet(pending, reads, fields)
    for (const item of answer.items) items.set(identity(item), item)
    const unprocessed = new Set(answer.unprocessed.map(identity))
    pending = pending.filter((key) => unprocessed.has(identity(key)))
  }
  return keys.map((key) => items.get(identity(key)))
}

function identity({ pk, sk }: { readonly pk?: unknown; readonly sk?: unknown }) {
  return `${String(pk)}\n${String(sk)}`
}

/** Nothing was written, and the SDK does not retry such a write. */
async function retryContention<Result>(
  requests: TableRequests,
  { log, sleep, random }: Means,
  attempt: () => Promise<Result>,
) {
  for (let tries = 1; ; tries++) {
    try {
      const result = await attempt()
      if (tries > 1) log.info('write.contended', { retries: tries - 1, gave_up: 0 })
      return result
    } catch (error) {
      const isContended = requests.isContention(error)
      if (!isContended || tries >= CONFLICT_TRIES) {
        if (isContended) log.warn('write.contended', { retries: tries - 1, gave_up: 1 })
        throw error
      }
      const ceilingMs = Math.min(CONFLICT_BASE_MS * 2 ** (tries - 1), CONFLICT_CAP_MS)
      // Full jitter, so that the same callers do not collide again.
      await sleep(Math.ceil(random() * ceilingMs))
    }
  }
}

type JoinedRead = { readonly keys: Map<string, Key>; readonly answer: Promise<BatchAnswer> }

/**
 * Joins concurrent batch reads of the same fields into one request. A read never joins a request
 * that was already sent.
 */
export function withJoinedReads(requests: TableRequests): TableRequests {
  const unsent = new Map<string, JoinedRead>()

  const begin = (kind: string, reads: Reads, fields?: readonly string[]): JoinedRead => {
    const keys = new Map<string, Key>()
    const ask = async () => {
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (unsent.get(kind) === joinedRead) unsent.delete(kind)
      return requests.batchGet([...keys.values()], reads, fields)
    }
    const joinedRead: JoinedRead = { keys, answer: ask() }
    unsent.set(kind, joinedRead)
    return joinedRead
  }

  return {
    ...requests,
    batchGet: async (keys, reads = 'consistent', fields) => {
      const kind = JSON.stringify([reads, fields])
      const current = unsent.get(kind)
      const joinedRead =
        current && current.keys.size + keys.length <= BATCH_LIMIT
          ? current
          : begin(kind, reads, fields)
      for (const key of keys) joinedRead.keys.set(identity(key), key)
      return joinedRead.answer
    },
  }
}
