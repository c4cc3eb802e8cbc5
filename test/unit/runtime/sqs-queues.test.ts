import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, it } from 'vitest'
import { byQueue } from '../../../shared/queues.ts'
import { sqsQueues } from '../../../shared/runtime/aws/sent-messages.ts'

const message = (number: number) => ({ body: { number }, delaySeconds: number, group: `group-${number}` })
const messages = (count: number) => Array.from({ length: count }, (_, at) => message(at))
const URL = 'https://sqs.example/webhooks'

const startQueues = () => {
  const client = new SQSClient({ region: 'ap-southeast-3' })
  const sqs = mockClient(client)
  const queues = sqsQueues(client, { ...byQueue(() => undefined), webhooks: URL, audits: URL })
  const batches = () => sqs.commandCalls(SendMessageBatchCommand).map(({ args: [{ input }] }) => input)
  return { sqs, queues, batches }
}

const entry = (number: number) => ({
  MessageBody: `{"number":${number}}`,
  DelaySeconds: number,
  MessageGroupId: `group-${number}`,
})

describe('messages on their way to SQS', () => {
  it('go alone as one message, and together ten at a time, each with its delay and its group', async () => {
    const { sqs, queues, batches } = startQueues()
    sqs.on(SendMessageBatchCommand).resolves({})

    await queues.send('webhooks', message(7))
    await queues.send('webhooks', ...messages(13))
    await queues.send('webhooks')

    expect(sqs.commandCalls(SendMessageCommand).map(({ args: [{ input }] }) => input)).toStrictEqual([
      { QueueUrl: URL, ...entry(7) },
    ])
    const ids = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({ Id: String(at), ...entry(from + at) }))
    expect(batches()).toStrictEqual([
      { QueueUrl: URL, Entries: ids(0, 10) },
      { QueueUrl: URL, Entries: ids(10, 3) },
    ])
  })

  it('wait a second at most for a queue of webhooks, and as long as it takes for others', async () => {
    const { sqs, queues } = startQueues()
    const signals = () =>
      sqs.commandCalls(SendMessageCommand).map(({ args }) => Object(Array.from(args)[1]).abortSignal)

    await queues.send('webhooks', message(1))
    await queues.send('audits', message(2))

    const [hurried, patient] = signals()
    expect([hurried?.aborted, patient]).toStrictEqual([false, undefined])
    await new Promise((resolve) => hurried?.addEventListener('abort', resolve))
    expect(Object(hurried?.reason).name).toBe('TimeoutError')
  })

  const refused = { Id: '1', Code: 'InternalError', SenderFault: false }

  it.each([
    ['is answered with 200 and refused in part', { Failed: [refused] }, '1 of 10 messages were not accepted'],
    ['has no answer', new Error('no answer'), 'no answer'],
  ])('are all sent although the first batch %s, and the failure is told', async (_, first, told) => {
    const { sqs, queues, batches } = startQueues()
    const answers = sqs.on(SendMessageBatchCommand)
    if (first instanceof Error) answers.rejectsOnce(first).resolves({})
    else answers.resolvesOnce({ Successful: [], ...first }).resolves({})

    await expect(queues.send('webhooks', ...messages(25))).rejects.toThrow(told)

    expect(batches().map(({ Entries = [] }) => Entries.length)).toStrictEqual([10, 10, 5])
  })

  it.each([
    ['one that the function may not send to', 'settlements', message(0)],
    ['a delay beyond fifteen minutes', 'webhooks', message(901)],
  ] as const)('are refused before anything is sent: %s', async (_, queue, second) => {
    const { sqs, queues } = startQueues()

    await expect(queues.send(queue, message(0), second)).rejects.toThrow()

    expect(sqs.calls()).toStrictEqual([])
  })
})
