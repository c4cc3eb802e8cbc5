/**
 * Goal: the model of a queue does what the emulator of SQS does. Method: both play the same
 * histories on one clock.
 */
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { runs } from '../../support/runs.ts'
import { createPrng } from '../world/prng.ts'
import { createSimQueue } from '../world/sim-queue.ts'

type Received = { readonly body: string; readonly receiveCount: number; readonly receipt: string }

type Queue = {
  readonly send: (body: string, delaySeconds: number) => Promise<unknown>
  readonly receive: (max: number) => Promise<readonly Received[]>
  readonly remove: (receipt: string) => Promise<unknown>
  readonly dead: () => Promise<readonly string[]>
}

const VISIBILITY_SECONDS = 30
const MAX_RECEIVES = 3

async function modelQueue(): Promise<Queue> {
  const queue = createSimQueue({
    visibilityMs: VISIBILITY_SECONDS * 1_000,
    maxReceiveCount: MAX_RECEIVES,
  })
  return {
    send: async (body, delaySeconds) => queue.send({ body, delaySeconds, nowMs: Date.now() }),
    receive: async (max) => queue.receive({ max, nowMs: Date.now() }),
    remove: async (receipt) => queue.remove(receipt),
    dead: async () => queue.dead().map(({ body }) => body),
  }
}

/** The emulator runs in this process, so the clock that the test moves is its clock too. */
async function startEmulatorQueues() {
  const { sqs, queue, close } = await startQueueEmulator()
  let opened = 0
  const receiveFrom = async (QueueUrl: string, max: number) => {
    const { Messages: messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: max,
        WaitTimeSeconds: 0,
        VisibilityTimeout: VISIBILITY_SECONDS,
        MessageSystemAttributeNames: ['ApproximateReceiveCount'],
      }),
    )
    return messages.map(({ Body = '', ReceiptHandle = '', Attributes = {} }) => ({
      body: Body,
      receiveCount: Number(Attributes['ApproximateReceiveCount']),
      receipt: ReceiptHandle,
    }))
  }
  const open = async (): Promise<Queue> => {
    const name = `conformance-${opened++}`
    const QueueUrl = await queue(name, { maxReceives: MAX_RECEIVES })
    const deadUrl = await queue(`${name}-dead`)
    return {
      send: (MessageBody, DelaySeconds) =>
        sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds })),
      receive: (max) => receiveFrom(QueueUrl, max),
      remove: (ReceiptHandle) => sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle })),
      dead: async () => (await receiveFrom(deadUrl, 10)).map(({ body }) => body),
    }
  }
  return { open, close }
}

/**
 * Each receive as sorted bodies with their receive counts, and the dead letters at the end. `send
 * 60`: with a delay in seconds; `receive 3`: at most three; `wait 30`: seconds; `remove 2`: by the
 * receipt before the last one.
 */
async function play(queue: Queue, actions: readonly string[], startMs: number) {
  vi.setSystemTime(startMs)
  const seen: string[] = []
  const receipts: string[] = []
  let sent = 0
  for (const action of actions) {
    const [kind, figure] = action.split(' ')
    if (kind === 'send') await queue.send(String(sent++), Number(figure ?? 0))
    if (kind === 'remove') await queue.remove(receipts.at(-Number(figure)) ?? 'none')
    if (kind === 'wait') vi.setSystemTime(Date.now() + Number(figure) * 1_000)
    if (kind !== 'receive') continue
    const received = (await queue.receive(Number(figure ?? 10))).toSorted((a, b) =>
      a.body.localeCompare(b.body),
    )
    receipts.push(...received.map(({ receipt }) => receipt))
    seen.push(received.map(({ body, receiveCount }) => `${body}×${receiveCount}`).join(' '))
  }
  return { seen, dead: (await queue.dead()).toSorted((a, b) => a.localeCompare(b)) }
}

let emulator: Awaited<ReturnType<typeof startEmulatorQueues>>
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) })
  emulator = await startEmulatorQueues()
})
afterAll(async () => {
  await emulator.close()
  vi.useRealTimers()
})

async function playBoth(actions: readonly string[]) {
  const startMs = Date.now()
  const expected = await play(await emulator.open(), actions, startMs)
  expect(await play(await modelQueue(), actions, startMs)).toStrictEqual(expected)
  return expected
}

describe('the model and the emulator', () => {
  it('give at most as many messages as asked, and at most ten', async () => {
    const sent = Array.from({ length: 14 }, () => 'send')
    const seen = ['0×1 1×1 2×1', '10×1 11×1 12×1 3×1 4×1 5×1 6×1 7×1 8×1 9×1', '13×1']

    expect(await playBoth([...sent, 'receive 3', 'receive 10', 'receive 10'])).toStrictEqual({
      seen,
      dead: [],
    })
  })

  it('agree on random histories', async () => {
    const action = fc.oneof(
      fc.constantFrom('send', 'send', 'send 10', 'send 60'),
      fc.constantFrom('receive', 'receive', 'wait 1', 'wait 10', 'wait 29.999', 'wait 30'),
      fc.constantFrom('remove 1', 'remove 2', 'remove 3', 'remove 4'),
    )
    // More messages could not all be received at once, and which of them come first is not
    // promised.
    const atMostTen = (actions: readonly string[]) => {
      const sends = actions.filter((text) => text.startsWith('send')).slice(0, 10)
      return actions.filter((text) => !text.startsWith('send') || sends.pop() !== undefined)
    }
    const histories = fc.array(action, { minLength: 5, maxLength: 40, size: 'max' })
    const property = fc.asyncProperty(
      histories,
      async (actions) => void (await playBoth(atMostTen(actions))),
    )

    await fc.assert(property, { numRuns: runs(30), seed: 20_261_102 })
  })
})

describe('the model alone', () => {
  const filled = () => {
    const queue = createSimQueue({ visibilityMs: 30_000, maxReceiveCount: 3 })
    queue.send({ body: 'first', delaySeconds: 0, nowMs: 0 })
    queue.send({ body: 'second', delaySeconds: 0, nowMs: 1 })
    return queue
  }

  it('gives a copy once more on demand, even when the message was removed', () => {
    const [queue, disorder] = [filled(), { random: createPrng(1).next, reorder: 0, duplicate: 1 }]
    const [first] = queue.receive({ max: 1, nowMs: 0, disorder })
    queue.remove(first?.receipt ?? '')
    const copies = queue
      .receive({ max: 10, nowMs: 30_000, disorder })
      .filter(({ body }) => body === 'first')

    expect(copies).toMatchObject([{ messageId: first?.messageId, receiveCount: 2 }])
    expect(copies.map(({ receipt }) => queue.remove(receipt))).toStrictEqual([true])
  })

  it('loses messages after four days, from their sending on', () => {
    const queue = filled()
    const atMs = 4 * 24 * 3_600_000

    expect(queue.receive({ max: 10, nowMs: atMs }).map(({ body }) => body)).toStrictEqual([
      'second',
    ])
    expect([queue.nextDueMs(), queue.dead()]).toStrictEqual([undefined, []])
  })

  it.each([-1, 0.5, 901, Number.NaN])('refuses a delay of %s seconds', (delaySeconds) => {
    expect(() => filled().send({ body: 'a', delaySeconds, nowMs: 0 })).toThrow('DelaySeconds')
  })
})
