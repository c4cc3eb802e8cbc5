import { describe, expect, it } from 'vitest'
import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS } from '../../../shared/due-work/due-kinds.ts'
import { addMs } from '../../../shared/time.ts'
import {
  alertBeforeRound,
  checkAbandoned,
} from '../../../shared/webhook/delivery/alert-abandoned.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { endAlert } from '../../../shared/webhook/delivery/delivery-store.ts'
import { redeliver } from '../../../shared/webhook/delivery/redeliver.ts'
import { startRound } from '../../../shared/webhook/delivery/round-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import {
  findEndpoint,
  markDeleted,
  moveMark,
} from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { beforeFirst, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import {
  ABANDONED,
  FAILED,
  makeAlertDue,
  messageFor,
  rowOf,
  storedDelivery,
  storedEndpoint,
} from '../../support/webhook-builders.ts'
import { withoutTopic } from './webhook-test.ts'

/**
 * Goal: every abandoned delivery is named in one alert, and alerts about one endpoint are fifteen minutes apart (design
 * section 11). Method: whole runs of due work on a table in memory.
 */

async function abandon(
  deps: TestDeps,
  endpoint: Endpoint,
  times = 1,
): Promise<readonly Delivery[]> {
  const found: Delivery[] = []
  deps.answerWebhooks(async () => FAILED)
  for (let time = 0; time < times; time++) {
    const delivery = await storedDelivery(deps, endpoint, { attempts: 7 })
    await deliverWebhook(deps, messageFor(delivery))
    found.push(delivery)
  }
  return found
}

function dueAlerts(deps: TestDeps) {
  return drainSlot(deps, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })
}

function idsOf(deliveries: readonly Delivery[]) {
  return deliveries.map(({ deliveryId }): string => deliveryId)
}

/** The same gateway, whose topic refuses each alert after this action. */
function failing(
  deps: TestDeps,
  meanwhile: (...alert: Parameters<TestDeps['alerts']['publish']>) => unknown,
) {
  return {
    ...deps,
    alerts: {
      publish: async (...alert: Parameters<TestDeps['alerts']['publish']>) => {
        await meanwhile(...alert)
        throw new Error('no topic')
      },
    },
  }
}

async function world(times = 1) {
  const deps = memoryDeps()
  const endpoint = await storedEndpoint(deps)
  const deliveries = await abandon(deps, endpoint, times)
  const [delivery = await storedDelivery(deps, endpoint)] = deliveries
  const { clientId } = endpoint
  const stored = { deps, endpoint, deliveries, delivery }
  return {
    ...stored,
    current: () => findEndpoint(deps, endpoint),
    check: (as: TestDeps = deps) => checkAbandoned(as, delivery.deliveryId),
    again: () => redeliver(deps, { clientId, deliveryId: delivery.deliveryId, operator: 'ayu' }),
    /** The deliveries that each message names. */
    named: (all = deliveries) =>
      deps.published.map(({ message }) => idsOf(all).filter((id) => message.includes(id))),
    left: () => deps.stored.items().filter(({ work }) => work === 'alert'),
  }
}

describe('alerts about one endpoint', () => {
  it('move last_alert_at forward at each alert, even in the same millisecond', async () => {
    const { deps, endpoint, delivery, current, again } = await world()
    await deps.table.write(moveMark(endpoint, 'lastAlertAt', deps.now()))

    await again()

    expect(await current()).toMatchObject({ lastAlertAt: addMs(deps.now(), 1) })
    expect(deps.published[0]?.message).toContain(
      `1 delivery: ${delivery.deliveryId}. The merchant does not know`,
    )
  })

  it('leave out a delivery whose next round begins meanwhile', async () => {
    const { deps, deliveries, delivery, named, check } = await world(2)
    const [, second = delivery] = deliveries
    const begin = async () => deps.table.write(startRound(await rowOf(deps, second), deps.now()))

    await check(beforeFirst(deps, 'batchGet', begin))

    expect(named()).toStrictEqual([[delivery.deliveryId]])
  })

  it('name all deliveries that were abandoned before the next run, and later ones after 15 minutes', async () => {
    const { deps, endpoint, deliveries, named, left } = await world(3)
    await dueAlerts(deps)
    const late = await abandon(deps, endpoint, 2)

    deps.clock.advance(899)
    await dueAlerts(deps)
    expect(deps.published).toHaveLength(1)
    deps.clock.advance(1)
    await dueAlerts(deps)

    expect(named([...deliveries, ...late])).toStrictEqual([idsOf(deliveries), idsOf(late)])
    expect(new Set(deps.published.map(({ subject }) => subject))).toStrictEqual(
      new Set([endpoint.endpointId]),
    )
    expect(left()).toStrictEqual([])
  })

  it('are retried by the next run while the topic fails, and sent once', async () => {
    const { deps, deliveries, named } = await world(2)

    expect(await dueAlerts(withoutTopic(deps))).toMatchObject({ failed: 1 })
    await dueAlerts(deps)
    deps.clock.advance(900)
    await dueAlerts(deps)

    expect(named()).toStrictEqual([idsOf(deliveries)])
  })

  it('do not undo the claim of another worker when they fail', async () => {
    const { deps, current, check } = await world()
    const overtaken = failing(deps, async () => {
      deps.clock.advance(1)
      const endpoint = await current()
      if (endpoint) await deps.table.write(moveMark(endpoint, 'lastAlertAt', deps.now()))
    })

    await expect(check(overtaken)).rejects.toThrow('no topic')

    expect(await current()).toMatchObject({ lastAlertAt: deps.now() })
  })

  it('do not delay those of another endpoint', async () => {
    const { deps, endpoint } = await world()
    await dueAlerts(deps)

    await abandon(deps, await storedEndpoint(deps, { clientId: endpoint.clientId }))
    await dueAlerts(deps)

    expect(deps.published).toHaveLength(2)
  })

  it('name the deliveries of an endpoint that was deleted meanwhile, once', async () => {
    const { deps, endpoint, deliveries, named } = await world(2)
    await deps.table.transact(markDeleted(endpoint, deps.now()))

    await dueAlerts(deps)

    expect(named()).toStrictEqual([idsOf(deliveries)])
  })

  it('name 500 deliveries, count the rest, and name the action that lists them', async () => {
    const { deps, endpoint, named, left } = await world(0)
    const rows: Delivery[] = []
    for (let number = 0; number < 510; number++) {
      const delivery = await storedDelivery(deps, endpoint, ABANDONED)
      await makeAlertDue(deps, delivery)
      rows.push(delivery)
    }

    expect(await dueAlerts(deps)).toStrictEqual({ done: 1, failed: 0 })

    expect(named(rows).map(({ length }) => length)).toStrictEqual([500])
    expect(deps.published[0]?.message).toMatch(
      /510 deliveries: .* and 10 more\. .*list-deliveries --client_id /,
    )
    expect(left()).toStrictEqual([])
  })

  it('are sent again when the worker died after the message, before it marked the rows', async () => {
    const { deps, deliveries, named, left, check } = await world()
    await expect(check(failing(deps, deps.alerts.publish))).rejects.toThrow('no topic')

    // The next try does not wait for a quarter of an hour.
    deps.clock.advance(60)
    await dueAlerts(deps)

    expect(named()).toStrictEqual([idsOf(deliveries), idsOf(deliveries)])
    expect(left()).toStrictEqual([])
  })
})

it('the end of an alert changes neither the due work of a new round nor the alert of a later one', async () => {
  const { deps, delivery } = await world()
  const read = await rowOf(deps, delivery)
  expect((await deps.table.write(endAlert({ ...read, attempts: 16 }))).applied).toBe(false)
  await deps.table.transact({ delivery: startRound(read, deps.now()) })

  expect(await alertBeforeRound(deps, read)).toBeUndefined()
  expect((await deps.table.write(endAlert(read))).applied).toBe(false)
  const begun = await rowOf(deps, delivery)
  expect(begun).toMatchObject({ status: 'scheduled', dueAt: expect.any(String) })
  expect(() => startRound(begun, deps.now())).toThrow('after the last one has ended')
})
