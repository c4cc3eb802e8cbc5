import { describe, expect, it } from 'vitest'
import type { Alert } from '../../../shared/deps.ts'
import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS } from '../../../shared/due-work/due-kinds.ts'
import { toItem } from '../../../shared/table/attributes.ts'
import { deliveryKey, endpointKey, testDeliveryKey } from '../../../shared/table/keys.ts'
import { addMs, later, MINUTE_MS } from '../../../shared/time.ts'
import {
  alertBeforeRound,
  checkAbandonedDelivery,
} from '../../../shared/webhook/delivery/alert-abandoned.ts'
import { checkOverdueDelivery } from '../../../shared/webhook/delivery/check-overdue-delivery.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import {
  deliveryRow,
  endAlert,
  newDelivery,
} from '../../../shared/webhook/delivery/delivery-store.ts'
import { redeliver, redeliverOwn } from '../../../shared/webhook/delivery/redeliver.ts'
import { startRound } from '../../../shared/webhook/delivery/round-store.ts'
import { sendTestEvent } from '../../../shared/webhook/delivery/send-test-event.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import {
  findEndpoint,
  markDeleted,
  moveMark,
} from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { alter, erase } from '../../support/tampering.ts'
import {
  beforeFirst,
  failingOn,
  memoryDeps,
  storeRaw,
  type TestDeps,
  withoutTopic,
} from '../../support/test-deps.ts'
import {
  ABANDONED,
  anEvent,
  deliver,
  FAILED,
  makeAlertDue,
  rowOf,
  storedDelivery,
  storedEndpoint,
} from '../../support/webhook-builders.ts'

/**
 * Goal: every abandoned delivery is named in one alert, and alerts about one endpoint are fifteen
 * minutes apart (design section 11).
 */

async function abandon(deps: TestDeps, endpoint: Endpoint, times = 1) {
  const deliveries: Delivery[] = []
  deps.answerWebhooks(async () => FAILED)
  for (let time = 0; time < times; time++) {
    const delivery = await storedDelivery(deps, endpoint, { attempts: 7 })
    await deliver(deps, delivery)
    deliveries.push(delivery)
  }
  return deliveries
}

function runDueAlerts(deps: TestDeps) {
  return drainSlot(deps, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })
}

function idsOf(deliveries: readonly Delivery[]) {
  return deliveries.map(({ deliveryId }) => deliveryId)
}

async function world(times = 1) {
  const deps = memoryDeps()
  const endpoint = await storedEndpoint(deps)
  const deliveries = await abandon(deps, endpoint, times)
  const [delivery = await storedDelivery(deps, endpoint)] = deliveries
  const { clientId } = endpoint
  return {
    deps,
    endpoint,
    deliveries,
    delivery,
    endpointNow: () => findEndpoint(deps, endpoint),
    check: (checkDeps: TestDeps = deps) => checkAbandonedDelivery(checkDeps, delivery.deliveryId),
    redeliverAgain: () =>
      redeliver(deps, { clientId, deliveryId: delivery.deliveryId, operator: 'ayu' }),
    namedIds: (all = deliveries) =>
      deps.published.map(({ message }) => idsOf(all).filter((id) => message.includes(id))),
    dueAlertRows: () => deps.stored.items().filter(({ work }) => work === 'alert'),
  }
}

describe('alerts about one endpoint', () => {
  it.each([
    ['has died', 0],
    ['had a clock ahead', MINUTE_MS],
  ])(
    'are sent by a redelivery after six seconds if the worker that moved last_alert_at %s: the mark moves forward',
    async (_, aheadMs) => {
      const { deps, endpoint, delivery, endpointNow, redeliverAgain } = await world()
      const mark = addMs(deps.now(), aheadMs)
      await deps.table.write(moveMark(endpoint, 'lastAlertAt', mark))
      const startMs = deps.monotonicMs()

      await redeliverAgain()

      expect(await endpointNow()).toMatchObject({ lastAlertAt: later(deps.now(), addMs(mark, 1)) })
      expect(deps.monotonicMs() - startMs).toBe(6_000)
      const words = `1 delivery: ${delivery.deliveryId}. The merchant does not know`
      expect(deps.published).toMatchObject([{ message: expect.stringContaining(words) }])
    },
  )

  it.each([2, 3, 10])(
    'are sent once for %i redeliveries at once, and each begins its round',
    async (times) => {
      const { deps, endpoint, deliveries, namedIds } = await world(times)
      const publish = async (alert: Alert) => {
        for (let part = 0; part < 8; part++) await deps.sleep(250)
        deps.published.push(alert)
      }
      const slow = { ...deps, alerts: { publish } }

      await Promise.all(idsOf(deliveries).map((id) => redeliverOwn(slow, endpoint.clientId, id)))

      expect(namedIds().map(({ length }) => length)).toStrictEqual([times])
      const rows = await Promise.all(deliveries.map((delivery) => rowOf(deps, delivery)))
      expect(rows.map(({ status }) => status)).toStrictEqual(Array(times).fill('scheduled'))
    },
  )

  it('leave out a delivery whose next round begins meanwhile', async () => {
    const { deps, deliveries, delivery, namedIds, check } = await world(2)
    const [, second = delivery] = deliveries
    const begin = async () => deps.table.write(startRound(await rowOf(deps, second), deps.now()))

    await check(beforeFirst(deps, 'batchGet', begin))

    expect(namedIds()).toStrictEqual([[delivery.deliveryId]])
  })

  it('name all deliveries that were abandoned before the next run, and later deliveries after 15 minutes', async () => {
    const { deps, endpoint, deliveries, namedIds, dueAlertRows } = await world(3)
    await runDueAlerts(deps)
    const lateDeliveries = await abandon(deps, endpoint, 2)

    deps.clock.advance(899)
    await runDueAlerts(deps)
    expect(deps.published).toHaveLength(1)
    deps.clock.advance(1)
    await runDueAlerts(deps)

    expect(namedIds([...deliveries, ...lateDeliveries])).toStrictEqual([
      idsOf(deliveries),
      idsOf(lateDeliveries),
    ])
    const { endpointId: subject } = endpoint
    expect(deps.published).toMatchObject([{ subject }, { subject }])
    expect(dueAlertRows()).toStrictEqual([])
  })

  it('wait fifteen minutes after the alert that a redelivery has sent meanwhile', async () => {
    const { deps, endpoint, delivery, dueAlertRows } = await world(2)
    await deps.table.write(moveMark(endpoint, 'lastAlertAt', deps.now()))

    await runDueAlerts(deps)
    expect(await checkOverdueDelivery(deps, await rowOf(deps, delivery))).toBe(false)

    const allowedAt = addMs(deps.now(), 15 * MINUTE_MS)
    expect(dueAlertRows().map((row) => row['due_at'])).toStrictEqual([allowedAt, allowedAt])
  })

  it('are tried once in each run while the topic fails, and sent once', async () => {
    const { deps, endpoint, deliveries, namedIds } = await world(9)

    expect(await runDueAlerts(withoutTopic(deps))).toMatchObject({ failed: 1 })
    const fields = { endpoint_id: endpoint.endpointId }
    expect(deps.lines).toContainEqual({ level: 'error', code: 'alert.failed', fields })
    deps.clock.advance(60)
    await runDueAlerts(deps)
    deps.clock.advance(900)
    await runDueAlerts(deps)

    expect(namedIds()).toStrictEqual([idsOf(deliveries)])
  })

  it('are tried again in the next run after a read that failed', async () => {
    const { deps, check } = await world()
    await expect(check(failingOn(deps, 'query', 'before'))).rejects.toThrow('reached')
    deps.clock.advance(60)

    expect(await check()).toBe(true)
  })

  it('do not undo the claim of another worker when they fail', async () => {
    const { deps, endpoint, endpointNow, check } = await world()
    const publish = async () => {
      deps.clock.advance(1)
      await alter(deps, endpointKey(endpoint), { last_alert_at: deps.now() })
      throw new Error('no topic')
    }

    await expect(check({ ...deps, alerts: { publish } })).rejects.toThrow('retry later')

    expect(await endpointNow()).toMatchObject({ lastAlertAt: deps.now() })
  })

  it('do not delay the alerts of another endpoint', async () => {
    const { deps, endpoint } = await world()
    await runDueAlerts(deps)

    await abandon(deps, await storedEndpoint(deps, { clientId: endpoint.clientId }))
    await runDueAlerts(deps)

    expect(deps.published).toHaveLength(2)
  })

  it.each<[string, (deps: TestDeps, endpoint: Endpoint) => Promise<unknown>]>([
    [
      'was deleted meanwhile',
      ({ now, table }, endpoint) => table.transact(markDeleted(endpoint, now())),
    ],
    ['cannot be read', (deps, endpoint) => alter(deps, endpointKey(endpoint), { url: 1 })],
  ])('name the deliveries of an endpoint that %s, once', async (_, change) => {
    const { deps, endpoint, deliveries, namedIds } = await world(2)
    await change(deps, endpoint)

    await runDueAlerts(deps)

    expect(namedIds()).toStrictEqual([idsOf(deliveries)])
  })

  it('say of a test event that the endpoint fails, and not that a redelivery sends it again', async () => {
    const { deps, endpoint } = await world(0)
    const delivery = await sendTestEvent(deps, { ...endpoint, operator: 'ayu' })
    for (let attempts = 0; attempts < 8; attempts++) {
      await deliver(deps, { ...delivery, attempts }, { test: true })
      deps.clock.advance(6 * 3_600)
    }
    await abandon(deps, endpoint)

    const key = testDeliveryKey(delivery.deliveryId)
    await checkAbandonedDelivery(deps, delivery.deliveryId)
    expect(await deps.table.get(key)).not.toHaveProperty('dueAt')
    deps.clock.advance(900)
    await alter(deps, key, { due_at: deps.now() })
    const publish = async (alert: Alert) => {
      await deps.alerts.publish(alert)
      await erase(deps, key)
    }
    await checkAbandonedDelivery({ ...deps, alerts: { publish } }, delivery.deliveryId)

    // A row that expired during the alert stays away.
    expect(await deps.table.get(key)).toBeUndefined()
    const message =
      `To endpoint ${endpoint.endpointId} of client ${endpoint.clientId}, abandoned after their ` +
      `last attempt: 1 test delivery: ${delivery.deliveryId}. The endpoint still fails. ` +
      'When the merchant has repaired it, run send-test-event again.'
    expect(deps.published).toMatchObject([{ message }, { message }])
  })

  it('name 500 deliveries, count the others, and name the action that lists them, though 5,000 later deliveries wait for no alert', async () => {
    const { deps, endpoint, namedIds, dueAlertRows } = await world(0)
    const rows: Delivery[] = []
    for (let number = 0; number < 510; number++) {
      const delivery = await storedDelivery(deps, endpoint, ABANDONED)
      await makeAlertDue(deps, delivery)
      rows.push(delivery)
    }
    const at = addMs(deps.now(), 1)
    for (let number = 0; number < 5_000; number++) {
      const other = { ...newDelivery(anEvent(at), endpoint, at), ...ABANDONED }
      storeRaw(deps.stored, { ...deliveryKey(other.deliveryId), ...toItem(deliveryRow(other)) })
    }

    expect(await runDueAlerts(deps)).toStrictEqual({ done: 1, failed: 0 })

    expect(namedIds(rows).map(({ length }) => length)).toStrictEqual([500])
    expect(deps.published[0]?.message).toMatch(
      /510 deliveries: .* and 10 more\. .*list-deliveries --client_id /,
    )
    expect(dueAlertRows()).toStrictEqual([])
  })
})

it('the end of an alert changes neither the due work of a new round nor the alert of a later round', async () => {
  const { deps, delivery } = await world()
  const readRow = await rowOf(deps, delivery)
  expect((await deps.table.write(endAlert({ ...readRow, attempts: 16 }))).applied).toBe(false)
  await deps.table.transact({ delivery: startRound(readRow, deps.now()) })

  expect(await alertBeforeRound(deps, readRow)).toBeUndefined()
  expect((await deps.table.write(endAlert(readRow))).applied).toBe(false)
  const newRound = await rowOf(deps, delivery)
  expect(newRound).toMatchObject({ status: 'scheduled', dueAt: expect.any(String) })
  expect(() => startRound(newRound, deps.now())).toThrow('after the last one has ended')
})
