import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { vi } from 'vitest'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { createSimQueue } from '../world/sim-queue.ts'

type Received = { readonly body: string; readonly receiveCount: number; readonly receipt: string }

/** One queue, of the model or of the emulator, on a clock that the test moves. */
type Queue = {
  readonly send: (body: string, delaySeconds: number) => Promise<unknown>
  readonly receive: (max: number) => Promise<readonly Received[]>
  readonly remove: (receipt: string) => Promise<unknown>
  readonly dead: () => Promise<readonly string[]>
}

export const VISIBILITY_SECONDS = 30
const MAX_RECEIVES = 3

export const modelQueue = async (): Promise<Queue> => {
  const queue = createSimQueue({ visibilityMs: VISIBILITY_SECONDS * 1_000, maxReceiveCount: MAX_RECEIVES })
  return {
    send: async (body, delaySeconds) => queue.send({ body, delaySeconds, nowMs: Date.now() }),
    receive: async (max) => queue.receive({ max, nowMs: Date.now() }),
    remove: async (receipt) => queue.remove(receipt),
    dead: async () => queue.dead().map(({ body }) => body),
  }
}

/** The emulator runs in this process, so the clock that the test moves is its clock too. */
export const startEmulatorQueues = async () => {
  const { sqs, queue, close } = await startQueueEmulator()
  let opened = 0
  const receiveFrom = async (QueueUrl: string, max: number): Promise<readonly Received[]> => {
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
      send: (MessageBody, DelaySeconds) => sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds })),
      receive: (max) => receiveFrom(QueueUrl, max),
      remove: (ReceiptHandle) => sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle })),
      dead: async () => (await receiveFrom(deadUrl, 10)).map(({ body }) => body),
    }
  }
  return { open, close }
}

/**
 * What is done to a queue: `send`, or `send 60` with a delay in seconds; `receive`, or `receive 3` at most; `wait 30`
 * seconds; `remove 2`, the message received so many receipts ago. Messages are called 0, 1, 2 as they are sent.
 */
export type Action = string

/** What was seen: the bodies and counts of every receive, sorted, and in the end all that was set aside. */
export const play = async (queue: Queue, actions: readonly Action[], startMs: number) => {
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
    const received = (await queue.receive(Number(figure ?? 10))).toSorted((a, b) => a.body.localeCompare(b.body))
    receipts.push(...received.map(({ receipt }) => receipt))
    seen.push(received.map(({ body, receiveCount }) => `${body}×${receiveCount}`).join(' '))
  }
  return { seen, dead: (await queue.dead()).toSorted((a, b) => a.localeCompare(b)) }
}
