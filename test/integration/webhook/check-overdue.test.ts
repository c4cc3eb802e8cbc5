import { describe, expect, it } from 'vitest'
import { eventKey } from '../../../shared/table/keys.ts'
import { addMs, msBetween } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import { checkOverdueEvent } from '../../../shared/webhook/delivery/check-overdue-event.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { skipDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  anEvent,
  deliverNextMessage,
  dueAtOf,
  dueDelivery,
  eventFor,
  isDue,
  rowOf,
  statusesOf,
} from '../../support/webhook-builders.ts'

describe('checkOverdueDelivery (due work)', () => {
  it('sends the message of an attempt that is two minutes overdue, and a worker makes it', async () => {
    const { deps, endpoint, delivery } = await dueDelivery()
    deps.clock.advance(119)
    expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(false)
    deps.clock.advance(1)

    expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(true)

    const { deliveryId: delivery_id, clientId: client_id, endpointId: endpoint_id } = delivery
    const body = { delivery_id, attempt: 1, client_id, endpoint_id }
    expect(deps.sent).toStrictEqual([
      { queue: 'webhooks', message: { body, delaySeconds: 0, group: endpoint.endpointId } },
    ])
    await deliverNextMessage(deps)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })
  })

  it('sends nothing when another run has claimed it meanwhile', async () => {
    const { deps, delivery } = await dueDelivery()
    deps.clock.advance(120)
    const late = beforeFirst(deps, 'update', () => checkOverdueDelivery(deps, delivery.deliveryId))

    expect(await checkOverdueDelivery(late, delivery.deliveryId)).toBe(false)

    expect(deps.sent).toHaveLength(1)
  })

  it('waits twice as long after each message sent in vain', async () => {
    const { deps, delivery } = await dueDelivery()
    const minutes: number[] = []
    for (let resent = 0; resent < 7; resent++) {
      const { dueAt } = await rowOf(deps, delivery)
      minutes.push(msBetween(deps.now(), dueAt ?? deps.now()) / 60_000)
      deps.clock.set(dueAt ?? deps.now())
      expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(true)
    }

    expect(minutes).toStrictEqual([2, 4, 8, 16, 32, 60, 60])
    expect(deps.sent).toHaveLength(7)
  })

  it('has nothing to do for what has ended or does not exist', async () => {
    const { deps, delivery } = await dueDelivery()
    await skipDelivery(deps, delivery)
    deps.clock.advance(3_600)

    expect(await checkOverdueDelivery(deps, delivery.deliveryId)).toBe(false)
    expect(await checkOverdueDelivery(deps, crypto.randomUUID() as Delivery['deliveryId'])).toBe(false)
    expect(deps.sent).toStrictEqual([])
  })

  it('comes back later when the queue does not take the message', async () => {
    const { deps, delivery } = await dueDelivery()
    deps.clock.advance(120)
    const broken = { ...deps, queues: { send: async () => Promise.reject(new Error('no queue')) } }

    await expect(checkOverdueDelivery(broken, delivery.deliveryId)).rejects.toThrow('no queue')

    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 240_000))
  })
})

describe('checkOverdueEvent (what the stream lost)', () => {
  it('fans out an event that is overdue', async () => {
    const { deps, event, endpoints } = await eventFor({})
    const key = eventKey(event.paymentId, event.type)
    deps.clock.advance(119)
    expect(await checkOverdueEvent(deps, key)).toBe(false)
    deps.clock.advance(1)

    expect(await checkOverdueEvent(deps, key)).toBe(true)

    expect(await statusesOf(deps, event, endpoints)).toStrictEqual(['scheduled'])
    expect(deps.sent).toHaveLength(1)
    expect(await isDue(deps, event)).toBe(false)
    expect(await checkOverdueEvent(deps, key)).toBe(false)
  })

  it('stays due, two minutes on, when it fails', async () => {
    const { deps, event } = await eventFor({})
    deps.clock.advance(120)
    const dying = { ...deps, queues: { send: async () => Promise.reject(new Error('no queue')) } }

    await expect(checkOverdueEvent(dying, eventKey(event.paymentId, event.type))).rejects.toThrow(AggregateError)

    expect(await dueAtOf(deps, 'event', event.eventId)).toBe(addMs(deps.now(), 120_000))
  })

  it('fans nothing out that another run has claimed meanwhile', async () => {
    const { deps, event } = await eventFor({})
    deps.clock.advance(120)
    const key = eventKey(event.paymentId, event.type)
    const late = beforeFirst(deps, 'update', () => checkOverdueEvent(deps, key))

    expect(await checkOverdueEvent(late, key)).toBe(false)

    expect(deps.sent).toHaveLength(1)
  })

  it('has nothing to do for an event that is not there', async () => {
    const deps = testDeps()
    const { paymentId, type } = anEvent(deps.now())

    expect(await checkOverdueEvent(deps, eventKey(paymentId, type))).toBe(false)
  })
})
