/**
 * Goal: every abandoned delivery is named in exactly one alert, and alerts about one endpoint are fifteen minutes apart
 * (design section 11). Method: whole runs of due work on a table in memory.
 */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS } from '../../../shared/due-work/due-alerts.ts'
import { DeliveryIdSchema } from '../../../shared/ids.ts'
import { deliveryKey } from '../../../shared/table/keys.ts'
import { put } from '../../../shared/table/step.ts'
import { addMs } from '../../../shared/time.ts'
import { freeAbandonment, putAbandonment } from '../../../shared/webhook/delivery/abandonment-store.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { startRound } from '../../../shared/webhook/delivery/delivery-store.ts'
import { freeOwedAlert, tellAbandonments } from '../../../shared/webhook/delivery/tell-abandonments.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { FAILED, messageFor, rowOf, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

/** Its eighth attempt fails. */
const abandon = async (deps: TestDeps, endpoint: Endpoint): Promise<Delivery> => {
  deps.answerWebhooks(async () => FAILED)
  const delivery = await storedDelivery(deps, endpoint, { attempts: 7 })
  await deliverWebhook(deps, messageFor(delivery))
  return delivery
}

const abandonMany = async (deps: TestDeps, endpoint: Endpoint, times: number): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let time = 0; time < times; time++) ids.push((await abandon(deps, endpoint)).deliveryId)
  return ids
}

const dueAlerts = (deps: TestDeps) => drainSlot(deps, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })

/** The deliveries that each message names. */
const namedIn = ({ published }: TestDeps, all: readonly string[]) =>
  published.map(({ message }) => all.filter((id) => message.includes(id)))

const world = async () => {
  const deps = memoryDeps()
  return { deps, endpoint: await storedEndpoint(deps) }
}

const left = ({ memory }: Awaited<ReturnType<typeof world>>['deps']) =>
  memory.items().filter(({ sk, work }) => String(sk).startsWith('UNTOLD#') || work === 'alert')

describe('alerts about one endpoint (design section 11)', () => {
  it('tell of the first delivery at once and of all others a quarter of an hour later, together', async () => {
    const { deps, endpoint } = await world()

    const ids = await abandonMany(deps, endpoint, 4)
    expect(namedIn(deps, ids)).toStrictEqual([ids.slice(0, 1)])
    deps.clock.advance(899)
    await dueAlerts(deps)
    expect(deps.published).toHaveLength(1)
    deps.clock.advance(1)
    await dueAlerts(deps)

    expect(namedIn(deps, ids)).toStrictEqual([ids.slice(0, 1), ids.slice(1)])
    expect(new Set(deps.published.map(({ subject }) => subject))).toStrictEqual(new Set([endpoint.endpointId]))
    expect(left(deps)).toStrictEqual([])
  })

  it('wait for those that came before: one that comes when the door opens does not go out alone', async () => {
    const { deps, endpoint } = await world()
    const early = await abandonMany(deps, endpoint, 3)
    deps.clock.advance(901)

    const last = await abandon(deps, endpoint)
    expect(deps.published).toHaveLength(1)
    await dueAlerts(deps)

    const ids = [...early, last.deliveryId]
    expect(namedIn(deps, ids)).toStrictEqual([ids.slice(0, 1), ids.slice(1)])
  })

  it('go out at once again when nothing was abandoned for half an hour', async () => {
    const { deps, endpoint } = await world()
    const first = await abandon(deps, endpoint)
    deps.clock.advance(1_800)

    const second = await abandon(deps, endpoint)

    const ids = [first.deliveryId, second.deliveryId]
    expect(namedIn(deps, ids)).toStrictEqual([[ids[0]], [ids[1]]])
  })

  it('hold up no other endpoint', async () => {
    const { deps, endpoint } = await world()
    await abandon(deps, endpoint)

    await abandon(deps, await storedEndpoint(deps, { clientId: endpoint.clientId }))

    expect(deps.published).toHaveLength(2)
  })

  it('name 2,000 deliveries at most, and the rest in the next one', { timeout: 30_000 }, async () => {
    const { deps, endpoint } = await world()
    await abandon(deps, endpoint)
    const rows = Array.from({ length: 2_010 }, (_, at) => ({
      clientId: endpoint.clientId,
      endpointId: endpoint.endpointId,
      deliveryId: v.parse(DeliveryIdSchema, deps.newId()),
      createdAt: addMs(deps.now(), at),
      attempts: 8,
      since: deps.now(),
    }))
    for (const row of rows) {
      await deps.table.write(putAbandonment(row))
      await deps.table.write(freeAbandonment(row, addMs(deps.now(), 900_000)))
    }
    const ids = rows.map(({ deliveryId }): string => deliveryId)

    for (const _ of [1, 2, 3]) {
      deps.clock.advance(900)
      while ((await dueAlerts(deps)).done > 0);
    }

    expect(namedIn(deps, ids)).toStrictEqual([[], ids.slice(0, 2_000), ids.slice(2_000)])
    expect(Math.max(...deps.published.map((alert) => JSON.stringify(alert).length))).toBeLessThan(100_000)
    expect(left(deps)).toStrictEqual([])
  })

  it('name a delivery whose next round has begun, and leave that to its own due work', async () => {
    const { deps, endpoint } = await world()
    const [, again = ''] = await abandonMany(deps, endpoint, 2)
    const delivery = await rowOf(deps, { deliveryId: again as Delivery['deliveryId'] })
    expect(await freeOwedAlert(deps, delivery)).toBe(true)
    await deps.table.transact({ delivery: startRound(delivery, deps.now()) })

    deps.clock.advance(900)
    await dueAlerts(deps)

    expect(namedIn(deps, [again])).toStrictEqual([[], [again]])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', dueAt: addMs(deps.now(), -780_000) })
  })

  it('name twice what was abandoned twice meanwhile', async () => {
    const { deps, endpoint } = await world()
    const [, id = ''] = await abandonMany(deps, endpoint, 2)
    const delivery = await rowOf(deps, { deliveryId: id as Delivery['deliveryId'] })
    await freeOwedAlert(deps, delivery)
    const again = { ...delivery, attempts: 16, since: deps.now() }
    await deps.table.transact({ row: putAbandonment(again), delivery: put(deliveryKey(delivery.deliveryId), again) })

    deps.clock.advance(900)
    await dueAlerts(deps)

    expect(deps.published.at(-1)?.message.split(id)).toHaveLength(3)
    expect(left(deps)).toStrictEqual([])
  })

  it('wait a minute while the topic does not answer, and lose nothing', async () => {
    const { deps, endpoint } = await world()
    const silent = { ...deps, alerts: { publish: async () => Promise.reject(new Error('no topic')) } }
    const ids = [(await abandon(silent, endpoint)).deliveryId, (await abandon(deps, endpoint)).deliveryId]

    deps.clock.advance(60)
    expect(await dueAlerts(silent)).toMatchObject({ failed: 1 })
    deps.clock.advance(59)
    await dueAlerts(deps)
    expect(deps.published).toStrictEqual([])
    for (const seconds of [1, 900]) {
      deps.clock.advance(seconds)
      await dueAlerts(deps)
    }

    expect(namedIn(deps, ids)).toStrictEqual([[ids[0]], [ids[1]]])
  })

  it('go out once when a worker wakes behind the end of its claim', async () => {
    const { deps, endpoint } = await world()
    const ids = await abandonMany(deps, endpoint, 3)
    deps.clock.advance(900)
    const frozen = interceptTable(deps, {
      after: async ({ name }) => {
        if (name !== 'update' || deps.published.length > 1) return
        deps.clock.advance(60)
        await tellAbandonments(deps, endpoint)
      },
    })

    await tellAbandonments(frozen, endpoint)

    expect(namedIn(deps, ids)).toStrictEqual([ids.slice(0, 1), ids.slice(1)])
  })
})
