import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  byCode,
  emulatorQueues,
  MAX_RECEIVES,
  modelQueues,
  type QueueBackend,
  type QueueBackends,
  type Received,
  VISIBILITY_SECONDS,
} from './conformance/queue-backend.ts'

/**
 * Goal: the simulation's queue does what the emulator of SQS does. Method: the emulator runs in this process, so that
 * both can be put on one clock that only the test moves; the same sentences and random histories run on both.
 */
const advance = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000)

beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) }))
afterAll(() => void vi.useRealTimers())

const bodiesOf = (received: readonly Received[]) => received.map(({ body }) => body).toSorted(byCode)

describe.each([
  ['the model', modelQueues],
  ['the emulator', emulatorQueues],
] as const)('%s as a queue', (_, start) => {
  let queues: QueueBackends
  beforeAll(async () => void (queues = await start()))
  afterAll(() => queues.close())

  it('hides a received message for the visibility timeout, and then gives it again', async () => {
    const queue = await queues.open()
    await queue.send('a')
    const first = await queue.receive()
    const hidden = [await queue.receive()]
    advance(VISIBILITY_SECONDS - 0.001)
    hidden.push(await queue.receive())
    advance(0.001)
    const second = await queue.receive()

    expect(first).toStrictEqual([{ ...first[0], body: 'a', receiveCount: 1 }])
    expect(hidden).toStrictEqual([[], []])
    expect(second).toStrictEqual([{ ...second[0], body: 'a', receiveCount: 2 }])
    expect(second[0]?.receipt).not.toBe(first[0]?.receipt)
  })

  it('holds a delayed message back', async () => {
    const queue = await queues.open()
    await queue.send('later', 900)
    await queue.send('now')
    const first = await queue.receive()
    await Promise.all(first.map(({ receipt }) => queue.remove(receipt)))
    advance(899.999)
    const early = await queue.receive()
    advance(0.001)

    expect(bodiesOf(first)).toStrictEqual(['now'])
    expect(early).toStrictEqual([])
    expect(bodiesOf(await queue.receive())).toStrictEqual(['later'])
  })

  it('forgets a removed message, and only that one of its batch', async () => {
    const queue = await queues.open()
    for (const body of ['a', 'b', 'c']) await queue.send(body)
    const received = await queue.receive()
    await Promise.all(received.filter(({ body }) => body !== 'b').map(({ receipt }) => queue.remove(receipt)))
    advance(VISIBILITY_SECONDS)

    expect(bodiesOf(received)).toStrictEqual(['a', 'b', 'c'])
    expect(bodiesOf(await queue.receive())).toStrictEqual(['b'])
  })

  it('removes by a receipt whose time is over, as long as the message was not received again', async () => {
    const queue = await queues.open()
    await queue.send('a')
    const [first] = await queue.receive()
    advance(VISIBILITY_SECONDS)
    await queue.remove(first?.receipt ?? '')

    expect(await queue.receive()).toStrictEqual([])
  })

  it('does not remove by a receipt older than the newest', async () => {
    const queue = await queues.open()
    await queue.send('a')
    const [first] = await queue.receive()
    advance(VISIBILITY_SECONDS)
    await queue.receive()
    await queue.remove(first?.receipt ?? '')
    advance(VISIBILITY_SECONDS)

    expect(bodiesOf(await queue.receive())).toStrictEqual(['a'])
  })

  it('gives at most as many as asked, and ten', async () => {
    const queue = await queues.open()
    for (let at = 0; at < 14; at++) await queue.send(String(at))

    expect(await queue.receive(3)).toHaveLength(3)
    expect(await queue.receive(10)).toHaveLength(10)
    expect(await queue.receive(10)).toHaveLength(1)
  })

  it('sets a message aside when it was received too often', async () => {
    const queue = await queues.open()
    await queue.send('poison')
    const counts: (number | undefined)[] = []
    for (let time = 0; time <= MAX_RECEIVES; time++) {
      const [received] = await queue.receive()
      counts.push(received?.receiveCount)
      advance(VISIBILITY_SECONDS)
    }

    expect(counts).toStrictEqual([1, 2, 3, undefined])
    expect(await queue.dead()).toStrictEqual(['poison'])
    expect(await queue.receive()).toStrictEqual([])
  })
})

type Action =
  | { readonly kind: 'send'; readonly delaySeconds: number }
  | { readonly kind: 'receive' | 'wait'; readonly seconds: number }
  /** Removes the message received so many receipts ago. */
  | { readonly kind: 'remove'; readonly ago: number }

const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('send' as const), delaySeconds: fc.constantFrom(0, 0, 10, 60) }),
  fc.record({ kind: fc.constantFrom('receive' as const, 'wait' as const), seconds: fc.constantFrom(1, 10, 29, 30) }),
  fc.record({ kind: fc.constant('remove' as const), ago: fc.integer({ min: 1, max: 4 }) }),
)

/** More could not all be received at once, and which of them come first is nobody's promise. */
const MAX_MESSAGES = 10

describe('the model and the emulator', () => {
  let queues: readonly [QueueBackends, QueueBackends]
  beforeAll(async () => void (queues = [await modelQueues(), await emulatorQueues()]))
  afterAll(() => Promise.all(queues.map((backends) => backends.close())))

  /** What was seen: the bodies and counts of every receive, and in the end all that was set aside. */
  const play = async (queue: QueueBackend, actions: readonly Action[], startMs: number) => {
    vi.setSystemTime(startMs)
    const seen: unknown[] = []
    const receipts = new Map<string, string>()
    let sent = 0
    for (const { kind, ...details } of actions) {
      if ('delaySeconds' in details && sent < MAX_MESSAGES) await queue.send(String(sent++), details.delaySeconds)
      if ('ago' in details) await queue.remove([...receipts.values()].at(-details.ago) ?? 'none')
      if ('seconds' in details && kind === 'wait') advance(details.seconds)
      if (kind !== 'receive') continue
      const received = (await queue.receive()).toSorted((a, b) => byCode(a.body, b.body))
      for (const { body, receiveCount, receipt } of received) receipts.set(`${body} ${receiveCount}`, receipt)
      seen.push(received.map(({ body, receiveCount }) => [body, receiveCount]))
    }
    return { seen, dead: await queue.dead() }
  }

  it('agree on random histories', async () => {
    const histories = fc.array(action, { minLength: 5, maxLength: 40, size: 'max' })
    const property = fc.asyncProperty(histories, async (actions) => {
      const [model, emulator] = await Promise.all(queues.map((backends) => backends.open()))
      if (!model || !emulator) throw new Error('two queues were opened')
      const startMs = Date.now()

      const expected = await play(emulator, actions, startMs)

      expect(await play(model, actions, startMs)).toStrictEqual(expected)
    })

    await fc.assert(property, { numRuns: 150, seed: 20_261_102 })
  })
})
