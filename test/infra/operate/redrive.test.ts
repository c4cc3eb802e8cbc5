import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { DEAD_LETTERS, type RedriveIo, runRedrive } from '../../../infra/operate/redrive/run-redrive.ts'
import { synthesised } from '../../support/stack-template.ts'
import { awsRefusal } from './aws-refusal.ts'
import { printedBy } from './printed-by.ts'

const sqs = mockClient(SQSClient)
const ARN = 'arn:aws:sqs:ap-southeast-3:000000000000:gateway-prod-webhooks-dead'
const NOW = Date.parse('2026-11-20T05:00:00Z')

const aMessage = (MessageId: string, body: object, minutesAgo: number) => ({
  MessageId,
  ReceiptHandle: `handle-${MessageId}`,
  Body: JSON.stringify(body),
  Attributes: { SentTimestamp: String(NOW - minutesAgo * 60_000) },
})

/** Two webhooks set aside, one an hour ago. */
beforeEach(() => {
  sqs.reset()
  sqs
    .on(GetQueueUrlCommand)
    .callsFake(({ QueueName }: { QueueName: string }) => ({ QueueUrl: `https://sqs/${QueueName}` }))
  sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { QueueArn: ARN, ApproximateNumberOfMessages: '2' } })
  sqs.on(ReceiveMessageCommand).resolves({
    Messages: [
      aMessage('m1', { delivery_id: 'd1', attempt: 3 }, 61),
      aMessage('m2', { delivery_id: 'd2', secret: 'hush' }, 5),
    ],
  })
  sqs.on(ListMessageMoveTasksCommand).resolves({ Results: [] })
})

const moves = (...statuses: readonly string[]) => {
  const answers = statuses.map((Status, at) => ({
    Results: [{ Status, ApproximateNumberOfMessagesMoved: at, ApproximateNumberOfMessagesToMove: 2 }],
  }))
  // The first question is whether one is under way already.
  const stub = sqs.on(ListMessageMoveTasksCommand).resolvesOnce({ Results: [] })
  for (const answer of answers) stub.resolvesOnce(answer)
}

const redriveWith = async (io: Partial<RedriveIo>, ...argv: readonly string[]) => {
  const slept: number[] = []
  const sleep = async (ms: number) => void slept.push(ms)
  const env = { AWS_REGION: 'ap-southeast-3' }
  return { ...(await printedBy(() => runRedrive(argv, { env, sleep, ...io }))), slept }
}
const redrive = (...argv: readonly string[]) => redriveWith({}, ...argv)

describe('dead-letter queues', () => {
  const queues = synthesised('prod').ofType('AWS::SQS::Queue')

  it('are all those the stack makes, and go back wherever a queue feeds them', () => {
    const policies = queues.flatMap(({ properties }) => properties['RedrivePolicy'] ?? [])
    const dead = queues.flatMap(({ properties: { QueueName: name, RedrivePolicy: policy } }) =>
      policy === undefined ? [[name, JSON.stringify(policies).includes(`<${String(name)}>`)]] : [],
    )

    expect([...DEAD_LETTERS].map(([name, instead]) => [`gateway-prod-${name}-dead`, instead === undefined])).toEqual(
      expect.arrayContaining(dead),
    )
    expect(dead).toHaveLength(DEAD_LETTERS.size)
  })
})

describe('npm run redrive', () => {
  it('shows what waits where when no queue is named, and moves nothing', async () => {
    const { code, text } = await redrive('--stage', 'prod')

    expect(code).toBe(0)
    expect(text).toMatch(/^webhooks: 2 waiting$/m)
    expect(text).toMatch(/^schedules: 2 waiting$/m)
    expect(sqs.commandCalls(StartMessageMoveTaskCommand)).toHaveLength(0)
  })

  it('moves messages back at the speed asked for, and follows until done', async () => {
    moves('RUNNING', 'RUNNING', 'COMPLETED')

    const { code, text, slept } = await redrive('--stage', 'prod', '--queue', 'webhooks', '--per-second', '7')

    expect(code).toBe(0)
    expect(sqs.commandCalls(StartMessageMoveTaskCommand).map(({ args: [{ input }] }) => input)).toStrictEqual([
      { SourceArn: ARN, MaxNumberOfMessagesPerSecond: 7 },
    ])
    expect(text.split('\n')).toStrictEqual(['webhooks: 2 waiting', '0 of 2 moved', '1 of 2 moved', '2 of 2 moved'])
    expect(slept).toStrictEqual([2_000, 2_000, 2_000])
  })

  it('joins a move that is under way instead of failing on it', async () => {
    sqs
      .on(ListMessageMoveTasksCommand)
      .resolvesOnce({ Results: [{ Status: 'RUNNING' }] })
      .resolves({ Results: [{ Status: 'COMPLETED' }] })

    expect((await redrive('--stage', 'prod', '--queue', 'webhooks')).code).toBe(0)
    expect(sqs.commandCalls(StartMessageMoveTaskCommand)).toHaveLength(0)
  })

  it('says that a move failed', async () => {
    moves('FAILED')

    const { code, text } = await redrive('--stage', 'prod', '--queue', 'webhooks')

    expect(code).toBe(1)
    expect(text).toContain('the move ended as FAILED')
  })

  it('stops following after half an hour and says so', async () => {
    sqs.on(ListMessageMoveTasksCommand).resolves({ Results: [{ Status: 'RUNNING' }] })

    const { code, text, slept } = await redrive('--stage', 'prod', '--queue', 'webhooks')

    expect(code).toBe(1)
    expect(slept).toHaveLength(900)
    expect(text).toContain('call it again to follow')
  })

  it('moves nothing when nothing waits', async () => {
    sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { QueueArn: ARN, ApproximateNumberOfMessages: '0' } })

    expect((await redrive('--stage', 'prod', '--queue', 'webhooks')).code).toBe(0)
    expect(sqs.commandCalls(StartMessageMoveTaskCommand)).toHaveLength(0)
  })

  it('peeks at ids alone, deletes nothing and shows the messages again', async () => {
    const { code, text } = await redrive('--stage', 'prod', '--queue', 'webhooks', '--peek')

    expect(code).toBe(0)
    expect(text).toContain('  m1  sent 2026-11-20T03:59:00.000Z  delivery_id=d1')
    expect(text).not.toMatch(/hush|secret|attempt/)
    expect(sqs.commandCalls(DeleteMessageCommand)).toHaveLength(0)
    expect(sqs.commandCalls(ReceiveMessageCommand)[0]?.args[0].input).toMatchObject({ VisibilityTimeout: 0 })
  })

  it('shows ids that came from outside as text', async () => {
    sqs.on(ReceiveMessageCommand).resolves({ Messages: [aMessage('m1', { event_id: '\u001b[2J\nx\u202e' }, 1)] })

    const { text } = await redrive('--stage', 'prod', '--queue', 'webhooks', '--peek')

    expect(text).toContain(String.raw`Z  event_id=\u001b[2J\u000ax\u202e`)
  })

  it('moves no runs of schedules, says what has happened instead, and deletes them only when told', async () => {
    const told = await redrive('--stage', 'prod', '--queue', 'schedules')
    expect(told).toMatchObject({ code: 1, text: expect.stringContaining('the next one saw the same work') })
    expect(sqs.commandCalls(PurgeQueueCommand)).toHaveLength(0)

    expect((await redrive('--stage', 'prod', '--queue', 'schedules', '--purge-confirmed')).code).toBe(0)
    expect(sqs.commandCalls(PurgeQueueCommand).map(({ args: [{ input }] }) => input)).toStrictEqual([
      { QueueUrl: 'https://sqs/gateway-prod-schedules-dead' },
    ])
    expect(sqs.commandCalls(StartMessageMoveTaskCommand)).toHaveLength(0)
  })

  it('never deletes messages that can be moved back', async () => {
    expect((await redrive('--stage', 'prod', '--queue', 'webhooks', '--purge-confirmed')).code).toBe(2)
    expect(sqs.commandCalls(PurgeQueueCommand)).toHaveLength(0)
  })

  it('names an error of AWS and not its message', async () => {
    sqs.on(GetQueueUrlCommand).rejects(awsRefusal('AccessDenied'))

    expect(await redrive('--stage', 'prod', '--queue', 'webhooks')).toMatchObject({
      code: 1,
      text: 'AccessDenied: use credentials that may read this',
    })
  })

  it('says what to do when the stage is not there', async () => {
    sqs.on(GetQueueUrlCommand).rejects(awsRefusal('QueueDoesNotExist'))

    expect(await redrive('--stage', 'prod')).toMatchObject({
      code: 1,
      text: 'QueueDoesNotExist: deploy the stage, or set AWS_REGION and AWS_PROFILE to where it is',
    })
  })

  it.each([
    [[], 'name the stage with --stage NAME'],
    [['--stage', 'prod', '--queue', 'no-such'], 'there is no such dead-letter queue'],
    [['--stage', 'prod', '--purge-confirmed'], '--purge-confirmed needs --queue NAME'],
    [['--stage', 'prod', '--queue', 'schedules', '--peek', '--purge-confirmed'], 'not both'],
    [['--stage', 'prod', '--per-second', '0'], '--per-second must be'],
  ])('ends with 2 when called as %j, and says why', async (argv, message) => {
    const { code, text } = await redrive(...argv)

    expect(code).toBe(2)
    expect(text.split('\n')[0]).toContain(message)
    expect(sqs.commandCalls(StartMessageMoveTaskCommand)).toHaveLength(0)
  })
})

it('peeking at a real queue leaves every message where it was, to be received again', async () => {
  sqs.restore()
  const emulator = await startQueueEmulator()
  onTestFinished(() => emulator.close())
  const QueueUrl = await emulator.queue('gateway-prod-webhooks-dead')
  await emulator.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{"client_id":"c1"}' }))
  const peek = async () => {
    const { text } = await redriveWith({ sqs: emulator.sqs }, ...'--stage prod --queue webhooks --peek'.split(' '))
    return text.split('\n')[1]
  }

  const first = await peek()

  expect(first).toMatch(/^ {2}[\w-]+ {2}sent \S+Z {2}client_id=c1$/)
  expect(await peek()).toBe(first)
})
