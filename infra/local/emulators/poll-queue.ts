import {
  type Message,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { pause } from '../process/pause.ts'

const FULL_WAIT_MS = 50
const BROKEN_WAIT_MS = 200

type Receiver = {
  readonly request: ReceiveMessageCommandInput
  readonly accept: (message: Message) => void | Promise<void>
  /** Messages then stay in the queue. */
  readonly isFull?: () => boolean
}

/** Returns a function that stops the polling, and resolves after the last message was accepted. */
export function pollQueue(sqs: SQSClient, { request, accept, isFull = () => false }: Receiver) {
  const controller = new AbortController()
  const { signal } = controller
  const receive = new ReceiveMessageCommand({
    MaxNumberOfMessages: 10,
    WaitTimeSeconds: 20,
    ...request,
  })

  const poll = async () => {
    const { Messages: messages = [] } = await sqs.send(receive, { abortSignal: signal })
    for (const message of messages) await accept(message)
  }

  const polling = (async () => {
    while (!signal.aborted) {
      if (isFull()) await pause(FULL_WAIT_MS, signal)
      else await poll().catch(() => pause(BROKEN_WAIT_MS, signal))
    }
  })()
  return async () => {
    controller.abort()
    await polling
  }
}
