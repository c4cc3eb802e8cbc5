import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { createSimQueue } from '../sim-queue.ts'

export type Received = { readonly body: string; readonly receiveCount: number; readonly receipt: string }

/** One queue, of the model or of the emulator, on a clock that the test moves. */
export type QueueBackend = {
  readonly send: (body: string, delaySeconds?: number) => Promise<void>
  readonly receive: (max?: number) => Promise<readonly Received[]>
  readonly remove: (receipt: string) => Promise<void>
  /** Bodies of what was set aside, sorted. */
  readonly dead: () => Promise<readonly string[]>
}

export type QueueBackends = {
  /** A new queue. */
  readonly open: () => Promise<QueueBackend>
  readonly close: () => Promise<void>
}

export const VISIBILITY_SECONDS = 30
export const MAX_RECEIVES = 3

export const modelQueues = async (): Promise<QueueBackends> => ({
  open: async () => {
    const queue = createSimQueue({ visibilityMs: VISIBILITY_SECONDS * 1_000, maxReceiveCount: MAX_RECEIVES })
    return {
      send: async (body, delaySeconds = 0) => void queue.send({ body, delaySeconds, nowMs: Date.now() }),
      receive: async (max = 10) => queue.receive({ max, nowMs: Date.now() }),
      remove: async (receipt) => void queue.remove(receipt),
      dead: async () => {
        const bodies = queue.dead().map(({ body }) => body)
        return bodies.toSorted(byCode)
      },
    }
  },
  close: async () => undefined,
})

/** The emulator runs in this process, so the clock that the test moves is its clock too. */
export const emulatorQueues = async (): Promise<QueueBackends> => {
  const emulator = await startQueueEmulator()
  const { sqs } = emulator
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
  const open = async (): Promise<QueueBackend> => {
    const name = `conformance-${opened++}`
    const QueueUrl = await emulator.queue(name, { maxReceives: MAX_RECEIVES })
    const deadUrl = await emulator.queue(`${name}-dead`)
    return {
      send: async (MessageBody, DelaySeconds = 0) =>
        void (await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody, DelaySeconds }))),
      receive: (max = 10) => receiveFrom(QueueUrl, max),
      remove: async (ReceiptHandle) => void (await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))),
      dead: async () => {
        const bodies: string[] = []
        for (let page = await receiveFrom(deadUrl, 10); page.length > 0; page = await receiveFrom(deadUrl, 10)) {
          bodies.push(...page.map(({ body }) => body))
        }
        return bodies.toSorted(byCode)
      },
    }
  }
  return { open, close: emulator.close }
}

export const byCode = (a: string, b: string): number => (a < b ? -1 : 1)
