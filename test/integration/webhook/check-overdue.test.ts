import { describe, expect } from 'vitest'
import { addMs, msBetween } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import { deliverNextMessage, dueAtOf, rowOf } from '../../support/webhook-builders.ts'
import { withoutQueue } from './outages.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('checkOverdueDelivery (due work)', () => {
  it('sends the message of an attempt that is a minute overdue, and a worker makes it', async ({ deps, delivery }) => {
    deps.clock.advance(59)
    expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(false)
    deps.clock.advance(1)

    expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(true)

    const { deliveryId: delivery_id, clientId: client_id, endpointId: endpoint_id } = delivery
    const body = { delivery_id, attempt: 1, client_id, endpoint_id }
    expect(deps.sent).toStrictEqual([{ queue: 'webhooks', message: { body, delaySeconds: 0, group: endpoint_id } }])
    await deliverNextMessage(deps)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })
  })

  it('waits twice as long after each message sent in vain', async ({ deps, delivery }) => {
    const minutes: number[] = []
    for (let resent = 0; resent < 7; resent++) {
      const { dueAt = deps.now() } = await rowOf(deps, delivery)
      minutes.push(msBetween(deps.now(), dueAt) / 60_000)
      deps.clock.set(dueAt)
      await checkOverdueDelivery(deps, delivery.deliveryId)
    }

    expect(minutes).toStrictEqual([1, 2, 4, 8, 16, 32, 60])
    expect(deps.sent).toHaveLength(7)
  })

  it('comes back a minute later, and counts no message, when the queue does not take it', async ({
    deps,
    delivery,
  }) => {
    deps.clock.advance(60)

    await expect(checkOverdueDelivery(withoutQueue(deps), delivery.deliveryId)).rejects.toThrow('no queue')

    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 60_000))
  })
})
