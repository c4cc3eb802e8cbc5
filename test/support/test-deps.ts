import { randomBytes, randomUUID } from 'node:crypto'
import { TransactionConflictException } from '@aws-sdk/client-dynamodb'
import * as v from 'valibot'
import { localSealer } from '../../infra/local/emulators/local-sealer.ts'
import { memoryRequests } from '../../infra/local/emulators/memory-table/memory-requests.ts'
import {
  createMemoryTable,
  type MemoryTable,
} from '../../infra/local/emulators/memory-table/memory-table.ts'
import type { StoredItem } from '../../infra/local/emulators/memory-table/stored-item.ts'
import type { TableChange } from '../../infra/local/emulators/memory-table/table-view.ts'
import type { Alert, Deps } from '../../shared/deps.ts'
import type { LogCode, LogFields } from '../../shared/log.ts'
import type { QueueMessage, QueueName } from '../../shared/queues.ts'
import { retryingTable, type TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import type { SendWebhook, WebhookRequest } from '../../shared/send-webhook.ts'
import type { Key } from '../../shared/table/keys.ts'
import type { Step } from '../../shared/table/step.ts'
import type { QueryInput, Reads } from '../../shared/table/table.ts'
import { addMs, epochMs, SECOND_MS, type Timestamp, timestampOf } from '../../shared/time.ts'
import { assembledDeps, type Outside } from './assembled-deps.ts'
import { dynamoDbTestRequests } from './dynamodb.ts'
import { fakeProvider } from './fake-provider.ts'

type LogLine = {
  readonly level: 'info' | 'warn' | 'error'
  readonly code: LogCode
  readonly fields: LogFields
}

const SEAL_KEY = randomBytes(32)

/**
 * One table for all files of a worker: each test makes its own clients. `npm test -- --table
 * dynamodb` changes it.
 */
const SHARED =
  process.env['TEST_TABLE'] === 'dynamodb'
    ? await dynamoDbTestRequests()
    : memoryRequests(createMemoryTable({ indexes: 'immediate' }))

export type Overrides = Partial<Outside>

/**
 * The worker's table, and fakes at the borders only: clock, ids, provider, merchants, queues,
 * topic, secrets.
 */
export function testDeps(overrides: Overrides = {}) {
  const clock = manualClock()
  const sent: { readonly queue: QueueName; readonly message: QueueMessage }[] = []
  const published: Alert[] = []
  const secretValues = new Map<string, string>()
  const lines: LogLine[] = []
  const logAt =
    (level: LogLine['level']) =>
    (code: LogCode, fields: LogFields = {}) =>
      void lines.push({ level, code, fields })
  const webhooks: WebhookRequest[] = []
  let answer: SendWebhook = async () => ({ httpStatus: 200, responseBody: 'ok', durationMs: 12 })
  const requests = overrides.requests ?? SHARED
  const provider = fakeProvider(clock.now)
  const deps: Deps = assembledDeps({
    queues: {
      send: async (queue, ...messages) =>
        void sent.push(...messages.map((message) => ({ queue, message }))),
    },
    alerts: { publish: async (alert) => void published.push(alert) },
    secrets: { get: async (name) => secretValues.get(name) },
    sealer: localSealer({ stage: 'test', key: SEAL_KEY }),
    sendWebhook: (request) => {
      webhooks.push(request)
      return answer(request)
    },
    log: { info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
    now: clock.now,
    realNowMs: () => epochMs(clock.now()),
    monotonicMs: clock.monotonicMs,
    sleep: clock.sleep,
    newId: randomUUID,
    random: Math.random,
    randomBytes,
    ...overrides,
    provider,
    requests,
  })
  const answerWebhooks = (next: SendWebhook) => {
    answer = next
  }
  const recorded = { sent, published, secretValues, lines, webhooks, answerWebhooks }
  /** `requests` are below the table's retries. `interceptTable` adds hooks there. */
  return { ...deps, ...recorded, requests, provider, clock }
}

/** A clock that moves only when a test moves it, or when the code under test sleeps. */
export function manualClock() {
  let current = timestampOf(Date.UTC(2026, 10, 20, 4, 0, 0))
  // A real clock gives fractions of milliseconds.
  let elapsedMs = 0.25
  const pass = (ms: number) => {
    current = addMs(current, ms)
    elapsedMs += ms
  }
  return {
    now: () => current,
    monotonicMs: () => elapsedMs,
    set: (time: Timestamp) => {
      current = time
    },
    pass,
    advance: (seconds: number) => pass(seconds * SECOND_MS),
    /** Advances the clock at once. Other work runs first, as in a real wait. */
    sleep: async (ms: number) => {
      const wakeAt = elapsedMs + ms
      await new Promise<void>((resolve) => setImmediate(resolve))
      // Overlapping waits take no extra time: the first one to end has advanced the clock for the
      // others too.
      if (elapsedMs < wakeAt) pass(wakeAt - elapsedMs)
    },
  }
}

/** For audits of the gateway: without other tests' rows in the table, unless on DynamoDB Local. */
export function ownDeps(): TestDeps {
  return process.env['TEST_TABLE'] === 'dynamodb' ? testDeps() : memoryDeps()
}

/** The indexes of the table follow at once. */
export function memoryDeps(overrides: Overrides = {}, items: readonly StoredItem[] = []) {
  const changes: TableChange[] = []
  const stored = createMemoryTable({
    indexes: 'immediate',
    onChange: (change) => void changes.push(change),
  })
  items.forEach(stored.restore)
  changes.length = 0
  return { ...testDeps({ ...overrides, requests: memoryRequests(stored) }), stored, changes }
}

export function storeRaw({ requests }: Pick<MemoryTable, 'requests'>, item: object) {
  const { pk, sk } = v.parse(v.object({ pk: v.string(), sk: v.string() }), item)
  requests.write({ kind: 'put', key: { pk, sk }, item: { ...item }, condition: undefined })
}

export type MemoryDeps = ReturnType<typeof memoryDeps>

/**
 * Deps on a table whose indexes get changes of keys with `latePkPrefix` only on `catchUp`, as
 * DynamoDB's are late.
 */
export function depsWithLateIndexes(latePkPrefix: string) {
  const late: TableChange[] = []
  const table = createMemoryTable({
    onChange: (change) => {
      if (change.key.pk.startsWith(latePkPrefix)) late.push(change)
      else table.applyToIndexes(change)
    },
  })
  const catchUp = () => {
    for (const change of late.splice(0)) table.applyToIndexes(change)
  }
  return { deps: testDeps({ requests: memoryRequests(table) }), catchUp }
}

/** Each retry is a request of its own. */
export type TableCall =
  | { readonly name: 'get'; readonly keys: readonly Key[] }
  | {
      readonly name: 'batchGet'
      readonly keys: readonly Key[]
      readonly reads: Reads | undefined
      readonly fields: readonly string[] | undefined
    }
  | { readonly name: 'query'; readonly query: QueryInput }
  /** A write of a single step has the name of its kind. */
  | { readonly name: Step['kind']; readonly steps: readonly Step[] }
  | { readonly name: 'transact'; readonly steps: readonly Step[] }

export function requestsAround(
  real: TableRequests,
  around: <Answer>(call: TableCall, send: () => Promise<Answer>) => Promise<Answer>,
): TableRequests {
  return {
    get: (key, some) => around({ name: 'get', keys: [key] }, () => real.get(key, some)),
    batchGet: (keys, reads, fields) =>
      around({ name: 'batchGet', keys, reads, fields }, () => real.batchGet(keys, reads, fields)),
    query: (query) => around({ name: 'query', query }, () => real.query(query)),
    write: (step) => around({ name: step.kind, steps: [step] }, () => real.write(step)),
    transact: (steps) => around({ name: 'transact', steps }, () => real.transact(steps)),
    isContention: real.isContention,
  }
}

export type TestDeps = ReturnType<typeof testDeps>

export function withRequests(deps: TestDeps, requests: TableRequests): TestDeps {
  return { ...deps, requests, memory: {}, table: retryingTable(requests, deps) }
}

/** More suspense items than one call reads, but none in `empty`: an index, or else the table. */
export function withCrowdedSuspense(deps: TestDeps, empty: QueryInput['index']) {
  const items = Array.from({ length: 100 }, (_, at) => ({ pk: `SUSPENSE#${at}`, sk: 'SUSPENSE' }))
  let pages = 0
  const query = async ({ index }: QueryInput) =>
    index === empty
      ? { items: [], count: 0, cursor: undefined }
      : { items, count: 100, cursor: ++pages < 51 ? {} : undefined }
  return withRequests(deps, { ...deps.requests, query })
}

type Hooks = {
  /** Runs before the request is sent. If it throws, the request never arrives. */
  readonly before?: (call: TableCall) => unknown
  /** Runs after an applied request, before its answer. If it throws, the answer is lost. */
  readonly after?: (call: TableCall) => unknown
}

/** The given deps keep working without the hooks. */
export function interceptTable(deps: TestDeps, { before, after }: Hooks) {
  const requests = requestsAround(deps.requests, async (call, send) => {
    await before?.(call)
    const answer = await send()
    if (Object(answer).applied !== false) await after?.(call)
    return answer
  })
  return withRequests(deps, requests)
}

export function recordTable(deps: TestDeps) {
  const calls: TableCall[] = []
  return { deps: interceptTable(deps, { before: (call) => calls.push(call) }), calls }
}

export function queriesIn(calls: readonly TableCall[]) {
  return calls.flatMap((call) => ('query' in call ? [call.query] : []))
}

export function writtenKeys(calls: readonly TableCall[]) {
  return calls.flatMap((call) =>
    'steps' in call ? call.steps.flatMap(({ kind, key }) => (kind === 'check' ? [] : [key])) : [],
  )
}

/** An approval may be written before. */
export function writesTo({ pk }: Pick<Key, 'pk'>) {
  return (call: TableCall) => writtenKeys([call]).some((key) => key.pk === pk)
}

/** Runs `other` once: at the first request of a kind, or of which a test holds. */
export const beforeFirst = atFirst('before')

export function beforeCommit(deps: TestDeps, other: () => unknown) {
  return beforeFirst(deps, 'transact', other)
}

/** If `other` throws, the answer is lost. */
export const afterFirst = atFirst('after')

/** The gateway repeats a write that meets it. */
export function aConflict() {
  return new TransactionConflictException({ message: 'conflict', $metadata: {} })
}

export function linesOf({ lines }: TestDeps, code: string) {
  return lines.filter((line) => line.code === code)
}

export function withoutQueue(deps: TestDeps) {
  return { ...deps, queues: { send: () => Promise.reject(new Error('no queue')) } }
}

export function withoutTopic<Own extends TestDeps>(deps: Own) {
  return { ...deps, alerts: { publish: () => Promise.reject(new Error('no topic')) } }
}

/**
 * Every request of this kind fails: it never arrives (`before`), or its answer is lost (`after`).
 */
export function failingOn(deps: TestDeps, kind: TableCall['name'], when: 'before' | 'after') {
  return interceptTable(deps, {
    [when]: ({ name }: TableCall) => {
      if (name === kind) throw new Error('the table cannot be reached')
    },
  })
}

function atFirst(when: 'before' | 'after') {
  return (
    deps: TestDeps,
    which: TableCall['name'] | ((call: TableCall) => boolean),
    other: () => unknown,
  ) => {
    let done = false
    const hook = async (call: TableCall) => {
      if (done || !(typeof which === 'string' ? call.name === which : which(call))) return
      done = true
      await other()
    }
    return interceptTable(deps, { [when]: hook })
  }
}
