import { randomBytes, randomUUID } from 'node:crypto'
import { localSealer } from '../../infra/local/emulators/local-sealer.ts'
import { memoryRequests } from '../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable } from '../../infra/local/emulators/memory-table/memory-table.ts'
import type { Alert } from '../../shared/alerts.ts'
import type { Deps } from '../../shared/deps.ts'
import type { Log, LogCode, LogFields } from '../../shared/log.ts'
import type { QueueMessage, QueueName } from '../../shared/queues.ts'
import type { TableRequests } from '../../shared/runtime/aws/retrying-table.ts'
import type { SendWebhook, WebhookRequest, WebhookResult } from '../../shared/send-webhook.ts'
import { addMs, epochMs, SECOND_MS, type Timestamp, timestampOf } from '../../shared/time.ts'
import { assembledDeps, type Outside } from './assembled-deps.ts'
import { dynamoDbTestRequests } from './dynamodb.ts'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'

type LogLine = { readonly level: 'info' | 'warn' | 'error'; readonly code: LogCode; readonly fields: LogFields }

export type TestDeps = Deps & {
  /** The single requests below the table's retries; an interceptor goes in here. */
  readonly requests: TableRequests
  readonly clock: ManualClock
  readonly provider: FakeProvider
  readonly sent: { readonly queue: QueueName; readonly message: QueueMessage }[]
  readonly published: Alert[]
  readonly secretValues: Map<string, string>
  readonly lines: LogLine[]
  readonly webhooks: WebhookRequest[]
  /** What the merchant answers; 200 by default. */
  answerWebhooks(answer: SendWebhook): void
}

const DELIVERED: WebhookResult = {
  delivered: true,
  httpStatus: 200,
  error: undefined,
  responseBody: 'ok',
  durationMs: 12,
}

const recordingLog = (lines: LogLine[]): Log => {
  const at =
    (level: LogLine['level']) =>
    (code: LogCode, fields: LogFields = {}) =>
      void lines.push({ level, code, fields })
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

const SEAL_KEY = randomBytes(32)

/**
 * One table for all files of a worker: tests keep apart by making their own clients and payments. In memory its indexes
 * follow at once. `npm test -- --table dynamodb` has it on DynamoDB Local.
 */
const SHARED =
  process.env['TEST_TABLE'] === 'dynamodb'
    ? await dynamoDbTestRequests()
    : memoryRequests(createMemoryTable({ indexes: 'immediate' }))

export type Overrides = Partial<Outside>

/** The worker's table, and fakes at the borders only: clock, ids, provider, merchants, queues, topic, secrets. */
export const testDeps = (overrides: Overrides = {}): TestDeps => {
  const clock = manualClock()
  const sent: TestDeps['sent'] = []
  const published: Alert[] = []
  const secretValues = new Map<string, string>()
  const lines: LogLine[] = []
  const webhooks: WebhookRequest[] = []
  let answer: SendWebhook = async () => DELIVERED
  const requests = overrides.requests ?? SHARED
  const provider = fakeProvider()
  const deps = assembledDeps({
    queues: { send: async (queue, ...messages) => void sent.push(...messages.map((message) => ({ queue, message }))) },
    alerts: { publish: async (alert) => void published.push(alert) },
    secrets: { get: async (name) => secretValues.get(name) },
    sealer: localSealer({ stage: 'test', key: SEAL_KEY }),
    sendWebhook: (request) => {
      webhooks.push(request)
      return answer(request)
    },
    log: recordingLog(lines),
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
  return {
    ...deps,
    requests,
    provider,
    clock,
    sent,
    published,
    secretValues,
    lines,
    webhooks,
    answerWebhooks: (next) => {
      answer = next
    },
  }
}

/** A clock that moves only when told, or when the code under test sleeps. */
type ManualClock = {
  now(): Timestamp
  monotonicMs(): number
  set(time: Timestamp): void
  advance(seconds: number): void
  /** Passes the time at once, and lets other work have its turn as a real wait would. */
  sleep(ms: number): Promise<void>
}

export const manualClock = (start: Timestamp = timestampOf(Date.UTC(2026, 10, 20, 4, 0, 0))): ManualClock => {
  let current = start
  let elapsedMs = 0
  const pass = (ms: number) => {
    current = addMs(current, ms)
    elapsedMs += ms
  }
  return {
    now: () => current,
    monotonicMs: () => elapsedMs,
    set: (time) => {
      current = time
    },
    advance: (seconds) => pass(seconds * SECOND_MS),
    // Waits that overlap pass together: the first to wake has moved the clock for the others too.
    sleep: async (ms) => {
      const wakeAt = elapsedMs + ms
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (elapsedMs < wakeAt) pass(wakeAt - elapsedMs)
    },
  }
}
