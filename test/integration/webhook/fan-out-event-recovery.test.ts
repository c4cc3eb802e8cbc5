import { describe, expect } from 'vitest'
import { completeEvent, listPaymentEvents, postponeEvent } from '../../../shared/event/event-store.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { checkOverdueEvent } from '../../../shared/webhook/delivery/check-overdue-event.ts'
import { fanOutEvent } from '../../../shared/webhook/delivery/fan-out-event.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { anEvent, dueAtOf, eventFor, isDue, statusesOf, storedEvent } from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('fanOutEvent: crashes', () => {
  it('sends the message again when it died between delivery and message', async () => {
    const { deps, event, endpoints } = await eventFor({})
    const dying = { ...deps, queues: { send: async () => Promise.reject(new Error('no queue')) } }
    await expect(fanOutEvent(dying, event)).rejects.toThrow(AggregateError)
    expect(await statusesOf(deps, event, endpoints)).toStrictEqual(['scheduled'])
    expect(await isDue(deps, event)).toBe(true)

    await fanOutEvent(deps, event)

    expect(deps.sent).toHaveLength(1)
    expect(await isDue(deps, event)).toBe(false)
  })

  it('stays due when one endpoint fails, and serves the others all the same', async () => {
    const { deps, event, endpoints } = await eventFor({}, {}, {})
    const unlucky = endpoints[1]?.endpointId
    const send: TestDeps['queues']['send'] = async (queue, ...messages) => {
      await deps.queues.send(queue, ...messages.filter(({ group }) => group !== unlucky))
      throw new Error('no queue')
    }

    await expect(fanOutEvent({ ...deps, queues: { send } }, event)).rejects.toThrow(AggregateError)

    const served = new Set([endpoints[0]?.endpointId, endpoints[2]?.endpointId])
    expect(new Set(deps.sent.map(({ message }) => message.group))).toStrictEqual(served)
    expect(deps.sent).toHaveLength(2)
    expect(await isDue(deps, event)).toBe(true)
    expect(deps.lines).toMatchObject([{ code: 'event.fan_out_failed', fields: { failed: 1, endpoints: 3 } }])
  })

  it.each(['query', 'put', 'update'])('ends complete after dying at its %s', async (command) => {
    const { deps, event, endpoints } = await eventFor({}, {})
    const dying = interceptTable(deps, {
      before: ({ name }) => {
        if (name === command) throw new Error('the process died')
      },
    })
    await expect(fanOutEvent(dying, event)).rejects.toThrow(Error)
    expect(await isDue(deps, event)).toBe(true)

    await fanOutEvent(deps, event)

    expect(await statusesOf(deps, event, endpoints)).toStrictEqual(['scheduled', 'scheduled'])
    expect(new Set(deps.sent.map(({ message }) => message.group)).size).toBe(2)
    expect(await isDue(deps, event)).toBe(false)
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

  it('has nothing to do for an event that is not there', async ({ deps }) => {
    const { paymentId, type } = anEvent(deps.now())

    expect(await checkOverdueEvent(deps, eventKey(paymentId, type))).toBe(false)
  })
})

describe('event store', () => {
  it('postpones only from the due time it has read', async () => {
    const { deps, event } = await eventFor()
    const later = addMs(deps.now(), 600_000)

    expect(await postponeEvent(deps, { ...event, dueAt: deps.now() }, later)).toBe(false)
    await completeEvent(deps, event)
    expect(await postponeEvent(deps, event, later)).toBe(false)
    expect(await isDue(deps, event)).toBe(false)
  })

  it('makes no row when it completes an event that is not there', async ({ deps }) => {
    const event = anEvent(deps.now())

    await completeEvent(deps, event)

    expect(await listPaymentEvents(deps, event.paymentId)).toStrictEqual([])
  })

  it('lists the events of a payment', async ({ deps }) => {
    const event = await storedEvent(deps)
    const other = await storedEvent(deps, { paymentId: event.paymentId, type: 'payment.failed' })

    expect(await listPaymentEvents(deps, event.paymentId)).toStrictEqual([other, event])
  })
})
