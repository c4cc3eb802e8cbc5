import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSEvent } from 'aws-lambda'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startQueueEmulator } from '../../../infra/local/emulators/queue-emulator.ts'
import { localQueues } from '../../../infra/local/functions/local-queues.ts'
import { startLocalClock } from '../../../infra/local/process/local-clock.ts'
import { fairSchedule } from '../../../infra/local/triggers/fair-schedule.ts'
import { startQueuePoller } from '../../../infra/local/triggers/start-queue-poller.ts'
import { byQueue } from '../../../shared/queues.ts'
import { eventually } from '../../support/eventually.ts'

const emulator = await startQueueEmulator()
afterAll(() => emulator.close())

type Behaviour = (name: string) => Promise<unknown>

async function succeed() {
  return { batchItemFailures: [] }
}

async function aPoller(behaviour: Behaviour) {
  const { sqs } = emulator
  const QueueUrl = await emulator.queue(`q-${crypto.randomUUID()}`, { maxReceives: 5 })
  const clock = startLocalClock()
  const seen: string[] = []
  const events: SQSEvent[] = []
  const urls = byQueue(() => QueueUrl)
  const poller = startQueuePoller({
    sqs,
    queueUrl: QueueUrl,
    clock,
    invoke: async (event) => {
      const { name } = JSON.parse(event.Records[0]?.body ?? '') as { name: string }
      events.push(event)
      seen.push(name)
      return behaviour(name)
    },
    limits: { total: 100, perGroup: 5 },
    retryAfterMs: 150_000,
  })
  onTestFinished(poller.close)
  return {
    clock,
    seen,
    events,
    expectSeen: (...names: readonly string[]) =>
      eventually(() => expect(seen).toStrictEqual(names)),
    expectHeld: (count: number) => eventually(() => expect(poller.heldCount()).toBe(count)),
    send: (name: string, delaySeconds = 0) =>
      localQueues(sqs, urls, clock).send('webhooks', { body: { name }, delaySeconds, group: 'g' }),
    countLeft: async () => {
      const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] })
      const { Attributes = {} } = await sqs.send(asked)
      return (
        Number(Attributes['ApproximateNumberOfMessages']) +
        Number(Attributes['ApproximateNumberOfMessagesNotVisible'])
      )
    },
  }
}

describe('the queue poller (design section 6)', () => {
  it('holds a delayed message, also past its real delay, until the one clock reaches its time', async () => {
    const { send, expectSeen, expectHeld, clock, seen } = await aPoller(succeed)
    await send('later', 900)
    await send('now')
    await expectSeen('now')
    await expectHeld(1)

    clock.advance(899)
    const before = [...seen]
    clock.advance(1)

    await expectSeen('now', 'later')
    expect(before).toStrictEqual(['now'])
  })

  it('renews the visibility of a message while it holds the message', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const { send, expectHeld } = await aPoller(succeed)
    await send('later', 900)
    await expectHeld(1)
    const sendSpy = vi.spyOn(SQSClient.prototype, 'send')

    vi.advanceTimersByTime(40_000)

    const renewals = sendSpy.mock.calls
      .map(([command]) => command.input)
      .filter((input) => 'Entries' in input)
    expect(renewals).toMatchObject([{ Entries: [{ VisibilityTimeout: 120 }] }])
  })

  it.each<[string, Behaviour]>([
    ['throws', () => Promise.reject(new Error('broken'))],
    [
      'names the message as failed',
      async () => ({ batchItemFailures: [{ itemIdentifier: 'it' }] }),
    ],
  ])(
    'brings a message back after the visibility timeout when the function %s, and deletes the message when it succeeds',
    async (_, failing) => {
      const behaviours = [failing]
      const { send, expectSeen, countLeft, clock, events } = await aPoller((name) =>
        (behaviours.pop() ?? succeed)(name),
      )
      await send('again')
      await expectSeen('again')

      clock.advance(150)

      await expectSeen('again', 'again')
      expect(events[1]?.Records[0]).toMatchObject({
        body: '{"name":"again"}',
        eventSource: 'aws:sqs',
        attributes: { ApproximateReceiveCount: '2', MessageGroupId: 'g' },
      })
      await eventually(async () => expect(await countLeft()).toBe(0))
    },
  )
})

it('the fair schedule gives a free slot to each waiting group in turn, and none to a group at its limit', async () => {
  const schedule = fairSchedule({ total: 2, perGroup: 1 })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  for (const name of ['a1', 'a2', 'b1', 'b2', 'c1']) {
    schedule.add(name.slice(0, 1), () => {
      started.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  }

  for (const name of ['b1', 'c1', 'a1']) {
    ends.get(name)?.()
    await new Promise<void>((resolve) => setImmediate(resolve))
  }

  expect(started).toStrictEqual(['a1', 'b1', 'c1', 'b2', 'a2'])
})
