import { describe, expect } from 'vitest'
import { addMs } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import { listAttempts } from '../../../shared/webhook/delivery/delivery-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  codes,
  deliverNextMessage,
  dueAtOf,
  dueDelivery,
  FAILED,
  messageFor,
  rowOf,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

const dies = () => Promise.reject(new Error('the process died'))

describe('deliver-webhook: workers that die or sleep', () => {
  it('leaves a claim when it dies after the POST, which is looked at again when it ends and failed then', async ({
    deps,
    delivery,
  }) => {
    deps.answerWebhooks(dies)
    await expect(deliverWebhook(deps, messageFor(delivery))).rejects.toThrow('the process died')
    const claimedAt = deps.now()

    deps.clock.advance(3)
    await deliverWebhook(deps, messageFor(delivery))
    expect(await rowOf(deps, delivery)).toMatchObject({ attempts: 0, claimedUntil: addMs(claimedAt, 30_000) })
    expect(deps.sent).toMatchObject([{ message: { body: { attempt: 1 }, delaySeconds: 27 } }])
    await deliverNextMessage(deps)

    // As if its failure had been written when it was made: nobody waits longer because a worker died.
    const nextAttemptAt = addMs(claimedAt, 60_000)
    const next = { attempts: 1, nextAttemptAt, dueAt: addMs(nextAttemptAt, 120_000) }
    expect(await rowOf(deps, delivery)).toStrictEqual({ ...delivery, ...next })
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([
      { number: 1, at: claimedAt, durationMs: 0, error: 'unknown' },
    ])
    expect(deps.webhooks).toHaveLength(1)
    expect(deps.sent).toMatchObject([{ message: { body: { attempt: 2 }, delaySeconds: 30 } }])
  })

  it('is due at once when the claim is found after its wait is over', async ({ deps, delivery }) => {
    deps.answerWebhooks(dies)
    await deliverWebhook(deps, messageFor(delivery)).catch(() => {})

    deps.clock.advance(3_600)
    await deliverWebhook(deps, messageFor(delivery))

    expect(await rowOf(deps, delivery)).toMatchObject({ attempts: 1, nextAttemptAt: deps.now() })
    expect(deps.sent).toMatchObject([{ message: { body: { attempt: 2 }, delaySeconds: 1 } }])
  })

  it('makes eight POSTs in a round even when every worker dies after its own', async ({ deps, delivery }) => {
    deps.answerWebhooks(dies)

    for (let tried = 0; tried < 40; tried++) {
      await deliverWebhook(deps, messageFor(await rowOf(deps, delivery))).catch(() => {})
      deps.clock.advance(3_900)
    }

    expect(deps.webhooks).toHaveLength(8)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: 8 })
    expect(deps.published).toHaveLength(1)
  })

  it('never overwrites a result when it wakes after its claim ran out', async ({ deps, delivery }) => {
    const sleeper = Promise.withResolvers<void>()
    deps.answerWebhooks(async () => {
      await sleeper.promise
      return { ...FAILED, delivered: true, httpStatus: 200, error: undefined }
    })
    const late = deliverWebhook(deps, messageFor(delivery))
    while ((await rowOf(deps, delivery)).claimToken === undefined) await deps.clock.sleep(0)
    deps.clock.advance(31)
    await deliverWebhook(deps, messageFor(delivery))
    const recorded = await rowOf(deps, delivery)

    sleeper.resolve()
    await late

    expect(await rowOf(deps, delivery)).toStrictEqual(recorded)
    expect(await listAttempts(deps, delivery.deliveryId)).toMatchObject([{ number: 1, error: 'unknown' }])
    expect(deps.sent).toHaveLength(1)
    expect(deps.lines.at(-1)).toMatchObject({ code: 'delivery.dropped', fields: { reason: 'claim_lost' } })
  })

  it('records a claim that ran out once, whoever comes', async () => {
    const past = addMs(testDeps().now(), -1_000)
    const { deps, delivery } = await dueDelivery({ claimToken: 'dead', claimedUntil: past })

    await Promise.all(Array.from({ length: 10 }, () => deliverWebhook(deps, messageFor(delivery))))

    expect(await rowOf(deps, delivery)).toMatchObject({ attempts: 1, status: 'scheduled' })
    expect(deps.sent).toHaveLength(1)
    expect(deps.webhooks).toStrictEqual([])
  })

  it('abandons when the claim that ran out was the eighth', async () => {
    const past = addMs(testDeps().now(), -1_000)
    const { deps, delivery } = await dueDelivery({ attempts: 7, claimToken: 'dead', claimedUntil: past })

    await deliverWebhook(deps, messageFor(delivery))

    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: 8 })
    expect(deps.published).toHaveLength(1)
  })

  it('has its next message sent by due work when it dies before sending it', async ({ deps, delivery }) => {
    deps.answerWebhooks(async () => FAILED)
    const broken = { ...deps, queues: { send: async () => Promise.reject(new Error('no queue')) } }
    await expect(deliverWebhook(broken, messageFor(delivery))).rejects.toThrow('no queue')

    // The queue tries the old message again: the attempt is made, so nothing comes of it.
    await deliverWebhook(deps, messageFor(delivery))
    expect(deps.webhooks).toHaveLength(1)
    deps.clock.advance(60 + 120)
    expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(true)
    await deliverNextMessage(deps)

    expect(deps.webhooks).toHaveLength(2)
    expect(await rowOf(deps, delivery)).toMatchObject({ attempts: 2, status: 'scheduled' })
  })

  it('leaves the alert to due work when the topic does not answer', async () => {
    const { deps, delivery } = await dueDelivery({ attempts: 7 })
    deps.answerWebhooks(async () => FAILED)
    const broken = { ...deps, alerts: { publish: async () => Promise.reject(new Error('no topic')) } }

    await deliverWebhook(broken, messageFor(delivery))

    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'abandoned', attempts: 8 })
    expect(await dueAtOf(deps, 'alert', delivery.deliveryId)).toBe(addMs(deps.now(), 60_000))
    expect(codes(deps)).toStrictEqual(['delivery.abandoned', 'alert.failed'])
  })
})
