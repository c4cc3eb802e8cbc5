import { GetQueueAttributesCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type QueueEmulator, startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { localQueues } from '../../../infra/local/functions/local-queues.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { type QueuePollerOptions, startQueuePoller } from '../../../infra/local/triggers/queue-poller.ts'
import { eventually } from '../../support/eventually.ts'

let emulator: QueueEmulator

beforeAll(async () => {
  emulator = await startQueueEmulator()
})
afterAll(() => emulator.close())

type Behaviour = (body: { readonly name: string }) => Promise<unknown>

/** A queue of its own, a poller on it, and the names of the messages its function was given. */
const aPoller = async (behaviour: Behaviour, changes: Partial<QueuePollerOptions> & { maxReceives?: number } = {}) => {
  const name = `q-${crypto.randomUUID()}`
  const { maxReceives = 5, ...options } = changes
  const queueUrl = await emulator.queue(name, { maxReceives })
  const clock = startLocalClock()
  const seen: string[] = []
  const events: SQSEvent[] = []
  const queues = localQueues(emulator.sqs, { webhooks: queueUrl, settlements: queueUrl }, clock)
  const poller = startQueuePoller({
    sqs: emulator.sqs,
    queueUrl,
    clock,
    invoke: async (event) => {
      events.push(event)
      const body = JSON.parse(event.Records[0]?.body ?? '') as { name: string }
      seen.push(body.name)
      return behaviour(body)
    },
    limits: { total: 100, perGroup: 5 },
    retryAfterMs: 150_000,
    ...options,
  })
  return {
    clock,
    seen,
    events,
    poller,
    queueUrl,
    send: (message: string, { delaySeconds = 0, group = 'g' } = {}) =>
      queues.send('webhooks', { body: { name: message }, delaySeconds, group }),
    /** Messages in the queue, be they waiting or hidden. */
    left: async () => {
      const { Attributes: counts } = await emulator.sqs.send(
        new GetQueueAttributesCommand({
          QueueUrl: queueUrl,
          AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
        }),
      )
      return Object.values(counts ?? {}).reduce((sum, count) => sum + Number(count), 0)
    },
    deadLetters: async () => {
      const received = await emulator.sqs.send(new ReceiveMessageCommand({ QueueUrl: `${queueUrl}-dead` }))
      return (received.Messages ?? []).map(({ Body = '' }) => Body)
    },
    [Symbol.asyncDispose]: () => poller.close(),
  }
}

const succeed: Behaviour = async () => ({ batchItemFailures: [] })

describe('the queue poller (design section 6)', () => {
  it('hands each message to the function as a record and deletes it after success', async () => {
    await using queue = await aPoller(succeed)

    await queue.send('a', { group: 'endpoint-1' })

    await eventually(() => expect(queue.seen).toStrictEqual(['a']))
    await eventually(async () => expect(await queue.left()).toBe(0))
    expect(queue.events[0]?.Records[0]).toMatchObject({
      body: '{"name":"a"}',
      eventSource: 'aws:sqs',
      attributes: { ApproximateReceiveCount: '1', MessageGroupId: 'endpoint-1' },
    })
  })

  it('holds a delayed message, also past its real delay, until the one clock reaches its time', async () => {
    await using queue = await aPoller(succeed)
    await queue.send('later', { delaySeconds: 900 })
    await queue.send('now')
    await eventually(() => expect(queue.seen).toStrictEqual(['now']))
    await eventually(() => expect(queue.poller.held()).toBe(1))

    queue.clock.advance(899)
    const before = [...queue.seen]
    queue.clock.advance(1)

    await eventually(() => expect(queue.seen).toStrictEqual(['now', 'later']))
    expect(before).toStrictEqual(['now'])
  })

  it('serves other groups while every message of one group takes its full timeout', async () => {
    const hang = Promise.withResolvers<unknown>()
    await using queue = await aPoller(({ name }) => (name.startsWith('dead') ? hang.promise : succeed({ name })), {
      limits: { total: 10, perGroup: 5 },
    })
    for (let n = 0; n < 50; n++) await queue.send(`dead-${n}`, { group: 'dead' })

    await queue.send('healthy', { group: 'healthy' })

    await eventually(() => expect(queue.seen).toContain('healthy'))
    expect(queue.seen.filter((name) => name.startsWith('dead'))).toHaveLength(5)
    hang.resolve(undefined)
  })

  it.each<[string, Behaviour]>([
    [
      'throws',
      async () => {
        throw new Error('broken')
      },
    ],
    ['names the message as failed', async () => ({ batchItemFailures: [{ itemIdentifier: 'it' }] })],
  ])('brings a message back after the visibility timeout when the function %s', async (_, failing) => {
    let failures = 1
    await using queue = await aPoller(async (body) => (failures-- > 0 ? failing(body) : succeed(body)))
    await queue.send('again')
    await eventually(() => expect(queue.seen).toStrictEqual(['again']))

    queue.clock.advance(150)

    await eventually(() => expect(queue.seen).toStrictEqual(['again', 'again']))
    expect(queue.events[1]?.Records[0]?.attributes.ApproximateReceiveCount).toBe('2')
    await eventually(() => expect(queue.poller.held()).toBe(0))
  })

  it('leaves a message that never succeeds to the dead-letter queue', async () => {
    await using queue = await aPoller(async () => Promise.reject(new Error('broken')), {
      maxReceives: 2,
      retryAfterMs: 0,
    })

    await queue.send('poison')

    await eventually(async () => expect(await queue.deadLetters()).toStrictEqual(['{"name":"poison"}']))
    expect(queue.seen).toStrictEqual(['poison', 'poison'])
  })

  it('takes no more than so many messages, and the rest when there is room', async () => {
    const gate = Promise.withResolvers<void>()
    await using queue = await aPoller(() => gate.promise, { maxHeld: 10 })
    for (let n = 0; n < 30; n++) await queue.send(`m${n}`, { group: `g${n}` })
    await eventually(() => expect(queue.seen).toHaveLength(10))
    const held = queue.poller.held()

    gate.resolve()

    await eventually(() => expect(queue.seen).toHaveLength(30))
    expect(held).toBe(10)
  })

  it('waits for a running handler when it closes, and deletes its message', async () => {
    const gate = Promise.withResolvers<void>()
    const queue = await aPoller(() => gate.promise)
    await queue.send('running')
    await eventually(() => expect(queue.seen).toStrictEqual(['running']))

    const closing = queue.poller.close()
    gate.resolve()
    await closing

    expect(await queue.left()).toBe(0)
  })
})
