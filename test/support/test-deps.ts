import { randomBytes, randomUUID } from 'node:crypto'
import { localSealer } from '../../infra/local/emulators/local-sealer.ts'
import { memoryRequests } from '../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable } from '../../infra/local/emulators/memory-table/memory-table.ts'
import type { Alert, Deps } from '../../shared/deps.ts'
import type { Log, LogCode, LogFields } from '../../shared/log.ts'
import type { QueueMessage, QueueName } from '../../shared/queues.ts'
import type { SendWebhook, WebhookRequest, WebhookResult } from '../../shared/send-webhook.ts'
import { addMs, epochMs, SECOND_MS, type Timestamp, timestampOf } from '../../shared/time.ts'
import { assembledDeps, type Outside } from './assembled-deps.ts'
import { dynamoDbTestRequests } from './dynamodb.ts'
import { fakeProvider } from './fake-provider.ts'

type LogLine = { readonly level: 'info' | 'warn' | 'error'; readonly code: LogCode; readonly fields: LogFields }

const DELIVERED: WebhookResult = { httpStatus: 200, responseBody: 'ok', durationMs: 12 }

const recordingLog = (lines: LogLine[]): Log => {
  const at =
    (level: LogLine['level']) =>
    (code: LogCode, fields: LogFields = {}) =>
      void lines.push({ level, code, fields })
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

const SEAL_KEY = randomBytes(32)

/** One table for all files of a worker: each test makes its own clients. `npm test -- --table dynamodb` changes it. */
const SHARED =
  process.env['TEST_TABLE'] === 'dynamodb'
    ? await dynamoDbTestRequests()
    : memoryRequests(createMemoryTable({ indexes: 'immediate' }))

export type Overrides = Partial<Outside>

/** The worker's table, and fakes at the borders only: clock, ids, provider, merchants, queues, topic, secrets. */
export const testDeps = (overrides: Overrides = {}) => {
  const clock = manualClock()
  const sent: { readonly queue: QueueName; readonly message: QueueMessage }[] = []
  const published: Alert[] = []
  const secretValues = new Map<string, string>()
  const lines: LogLine[] = []
  const webhooks: WebhookRequest[] = []
  let answer: SendWebhook = async () => DELIVERED
  const requests = overrides.requests ?? SHARED
  const provider = fakeProvider()
  const deps: Deps = assembledDeps({
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
  /** Sets the merchant's answer from now on; 200 by default. */
  const answerWebhooks = (next: SendWebhook) => {
    answer = next
  }
  const recorded = { sent, published, secretValues, lines, webhooks, answerWebhooks }
  /** `requests` are below the table's retries. `interceptTable` adds hooks there. */
  return { ...deps, ...recorded, requests, provider, clock }
}

export type TestDeps = ReturnType<typeof testDeps>

/** A clock that moves only when told, or when the code under test sleeps. */
export const manualClock = (start: Timestamp = timestampOf(Date.UTC(2026, 10, 20, 4, 0, 0))) => {
  let current = start
  let elapsedMs = 0
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
    advance: (seconds: number) => pass(seconds * SECOND_MS),
    /** Advances the clock at once. Other work runs first, as in a real wait. */
    sleep: async (ms: number): Promise<void> => {
      const wakeAt = elapsedMs + ms
      await new Promise<void>((resolve) => setImmediate(resolve))
      // Overlapping waits take no extra time: the first one to end has advanced the clock for the others too.
      if (elapsedMs < wakeAt) pass(wakeAt - elapsedMs)
    },
  }
}
