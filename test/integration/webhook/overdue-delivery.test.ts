import { describe, expect } from 'vitest'
import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS, DUE_DELIVERIES, DUE_PAYMENTS } from '../../../shared/due-work/due-kinds.ts'
import { eventRow } from '../../../shared/event/event-store.ts'
import { listEventsOf } from '../../../shared/event/read-events.ts'
import { putSuspense } from '../../../shared/suspense/suspense-store.ts'
import { deliveryKey, eventKey, suspenseKey, testDeliveryKey } from '../../../shared/table/keys.ts'
import { put, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import {
  deliveryRow,
  findDelivery,
  overdueAfterMs,
} from '../../../shared/webhook/delivery/delivery-store.ts'
import { deliveriesOfEvent } from '../../../shared/webhook/delivery/list-deliveries.ts'
import { redeliver, redeliverToEndpoint } from '../../../shared/webhook/delivery/redeliver.ts'
import { beforeFirst, memoryDeps, withoutQueue } from '../../support/test-deps.ts'
import {
  attemptRows,
  deliver,
  dueAtOf,
  dueDelivery,
  listedDelivery,
  rowOf,
  sentFor,
} from '../../support/webhook-builders.ts'
import { heldMoneyItem } from '../payment/suspense-test.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('checkOverdueDelivery (due work)', () => {
  it('sends the message of an attempt that is a minute overdue once', async () => {
    const { deps, delivery } = await dueDelivery({ resends: 1 })
    deps.clock.advance(60)

    const first = async () => expect(await checkOverdueDelivery(deps, delivery)).toBe(true)
    const second = beforeFirst(deps, 'update', first)
    expect(await checkOverdueDelivery(second, delivery)).toBe(false)

    expect(deps.sent).toStrictEqual([sentFor(delivery)])
    expect(deps.lines).toMatchObject([{ code: 'delivery.overdue', fields: { overdue_ms: 60_000 } }])
    expect(await rowOf(deps, delivery)).toStrictEqual({
      ...listedDelivery(delivery),
      resends: 2,
      dueAt: addMs(deps.now(), 240_000),
    })
    expect(await deps.table.get(deliveryKey(delivery.deliveryId))).not.toHaveProperty('state')
  })

  it('is due again in a minute, and counts no resend, when the queue fails', async ({
    deps,
    delivery,
  }) => {
    deps.clock.advance(60)

    await expect(checkOverdueDelivery(withoutQueue(deps), delivery)).rejects.toThrow('no queue')

    expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBe(addMs(deps.now(), 60_000))
    expect(await rowOf(deps, delivery)).toMatchObject({ resends: 0 })
  })

  it('waits a minute, then twice as long each time, at most an hour', () => {
    const minutes = [0, 1, 2, 3, 4, 5, 6, 50].map((resends) => overdueAfterMs(resends) / 60_000)

    expect(minutes).toStrictEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })
})

it.for([
  [DUE_DELIVERIES, 2],
  [DUE_PAYMENTS, 0],
  [DUE_ALERTS, 0],
] as const)(
  'due work goes on beside a row of another kind',
  async ([kind, done], { event, delivery }) => {
    const deps = memoryDeps()
    const due = { slot: 0, dueAt: deps.now() }
    const delivered = { ...deliveryRow(delivery), ...due }
    for (const keyOf of [deliveryKey, testDeliveryKey])
      await deps.table.write(put(keyOf(delivery.deliveryId), delivered))
    const row = { ...eventRow(event), ...due, work: kind.work }
    await deps.table.write(put(eventKey(event.subject, event.name), row))

    expect(await drainSlot(deps, kind, { slot: 0, part: 0, parts: 1 })).toStrictEqual({
      done,
      failed: 0,
    })
  },
)

it.for(['id', 'suspenseId'])(
  'due work tells the operators once of each held money although an attribute has another id: %s',
  async (name) => {
    const deps = memoryDeps()
    const item = heldMoneyItem(deps)
    const { suspenseId } = item
    deps.clock.advance(1)
    const other = heldMoneyItem(deps)
    for (const one of [item, other]) await deps.table.transact(putSuspense(one))
    const set = { [name]: other.suspenseId }
    await deps.table.write(update(suspenseKey(suspenseId), { set }))

    for (const seconds of [59, 60]) {
      deps.clock.advance(seconds)
      await drainSlot(deps, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })
    }

    const subjects = deps.published.map(({ subject }) => subject)
    expect(subjects).toStrictEqual([suspenseId, other.suspenseId])
  },
)

/* redeliver.test.ts tests the retention of redelivered events. */
it('an expired delivery counts as deleted; its event is kept longer (section 9)', async ({
  deps,
  event,
  delivery,
}) => {
  const { clientId, endpointId, deliveryId } = delivery
  await deliver(deps, delivery)
  expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })

  deps.clock.pass(91 * DAY_MS)

  await expect(redeliver(deps, { clientId, deliveryId, operator: 'ayu' })).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await findDelivery(deps, deliveryId)).toBeUndefined()
  expect(await attemptRows(deps, { deliveryId })).toStrictEqual([])
  expect(await deliveriesOfEvent(deps, clientId, event.eventId)).toStrictEqual([])
  expect(await listEventsOf(deps, event.subject)).toHaveLength(1)
  deps.clock.pass(30 * DAY_MS)
  expect(await listEventsOf(deps, event.subject)).toStrictEqual([])
  expect(
    await redeliverToEndpoint(deps, {
      clientId,
      endpointId,
      operator: 'ayu',
      since: event.firedAt,
      status: undefined,
      cursor: undefined,
    }),
  ).toMatchObject({ count: 0 })
})
