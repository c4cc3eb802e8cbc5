/**
 * Goal: every abandoned delivery is named in one alert, and alerts about one endpoint are fifteen minutes apart (design
 * section 11). Method: whole runs of due work on a table in memory.
 */
import { describe, expect, it } from 'vitest'
import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS } from '../../../shared/due-work/due-alerts.ts'
import { addMs } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { endAlert, startRound } from '../../../shared/webhook/delivery/delivery-store.ts'
import { redeliver } from '../../../shared/webhook/delivery/redeliver.ts'
import { redeliverToEndpoint } from '../../../shared/webhook/delivery/redeliver-to-endpoint.ts'
import { checkAbandoned } from '../../../shared/webhook/delivery/tell-abandoned.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { findEndpoint, moveToGone, noteAlert } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { FAILED, messageFor, oweAlert, rowOf, storedDelivery, storedEndpoint } from '../../support/webhook-builders.ts'

/** Its eighth attempt fails. */
const abandon = async (deps: TestDeps, endpoint: Endpoint): Promise<Delivery> => {
  deps.answerWebhooks(async () => FAILED)
  const delivery = await storedDelivery(deps, endpoint, { attempts: 7 })
  await deliverWebhook(deps, messageFor(delivery))
  return delivery
}

const abandonMany = async (deps: TestDeps, endpoint: Endpoint, times: number): Promise<readonly Delivery[]> => {
  const found: Delivery[] = []
  for (let time = 0; time < times; time++) found.push(await abandon(deps, endpoint))
  return found
}

const dueAlerts = (deps: TestDeps) => drainSlot(deps, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })

const idsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ deliveryId }): string => deliveryId)

/** The deliveries that each message names. */
const namedIn = ({ published }: TestDeps, all: readonly Delivery[]) =>
  published.map(({ message }) => idsOf(all).filter((id) => message.includes(id)))

const world = async () => {
  const deps = memoryDeps()
  return { deps, endpoint: await storedEndpoint(deps) }
}

const left = ({ stored }: Awaited<ReturnType<typeof world>>['deps']) =>
  stored.items().filter(({ work }) => work === 'alert')

describe('alerts about one endpoint', () => {
  it('take the message by another time than the last, also in the same millisecond', async () => {
    const { deps, endpoint } = await world()
    const delivery = await abandon(deps, endpoint)
    await noteAlert(deps, endpoint, deps.now())

    await redeliver(deps, { clientId: endpoint.clientId, deliveryId: delivery.deliveryId, operator: 'ayu' })

    expect(await findEndpoint(deps, endpoint.clientId, endpoint.endpointId)).toMatchObject({
      lastAlertAt: addMs(deps.now(), 1),
    })
  })

  it('tell of all that was abandoned by the next run, and of what follows a quarter of an hour later', async () => {
    const { deps, endpoint } = await world()
    const early = await abandonMany(deps, endpoint, 3)
    await dueAlerts(deps)
    const late = await abandonMany(deps, endpoint, 2)

    deps.clock.advance(899)
    await dueAlerts(deps)
    expect(deps.published).toHaveLength(1)
    deps.clock.advance(1)
    await dueAlerts(deps)

    expect(namedIn(deps, [...early, ...late])).toStrictEqual([idsOf(early), idsOf(late)])
    expect(new Set(deps.published.map(({ subject }) => subject))).toStrictEqual(new Set([endpoint.endpointId]))
    expect(left(deps)).toStrictEqual([])
  })

  it('are tried again by the next run when the topic could not be reached', async () => {
    const { deps, endpoint } = await world()
    const delivery = await abandon(deps, endpoint)
    const silent = { ...deps, alerts: { publish: async () => Promise.reject(new Error('no topic')) } }
    await expect(checkAbandoned(silent, delivery.deliveryId)).rejects.toThrow('no topic')

    await dueAlerts(deps)

    expect(namedIn(deps, [delivery])).toStrictEqual([[delivery.deliveryId]])
  })

  it('are not taken back from a worker that has taken the next one since', async () => {
    const { deps, endpoint } = await world()
    const delivery = await abandon(deps, endpoint)
    const failing = async () => {
      deps.clock.advance(1)
      const current = await findEndpoint(deps, endpoint.clientId, endpoint.endpointId)
      if (current) await noteAlert(deps, current, deps.now())
      throw new Error('no topic')
    }
    const overtaken = { ...deps, alerts: { publish: failing } }
    await expect(checkAbandoned(overtaken, delivery.deliveryId)).rejects.toThrow('no topic')

    expect(await findEndpoint(deps, endpoint.clientId, endpoint.endpointId)).toMatchObject({ lastAlertAt: deps.now() })
  })

  it('are one message for a redelivery of many deliveries', async () => {
    const { deps, endpoint } = await world()
    const all = await abandonMany(deps, endpoint, 3)
    const { clientId, endpointId, createdAt: since } = endpoint

    const bulk = { clientId, endpointId, since, operator: 'sari', status: undefined, cursor: undefined }
    expect(await redeliverToEndpoint(deps, bulk)).toMatchObject({ count: 3 })

    expect(namedIn(deps, all)).toStrictEqual([idsOf(all)])
  })

  it('hold up no other endpoint', async () => {
    const { deps, endpoint } = await world()
    await abandon(deps, endpoint)
    await dueAlerts(deps)

    await abandon(deps, await storedEndpoint(deps, { clientId: endpoint.clientId }))
    await dueAlerts(deps)

    expect(deps.published).toHaveLength(2)
  })

  it('tell of an endpoint that was deleted meanwhile, once', async () => {
    const { deps, endpoint } = await world()
    const deliveries = await abandonMany(deps, endpoint, 2)
    await deps.table.transact(moveToGone(endpoint, deps.now()))

    await dueAlerts(deps)

    expect(namedIn(deps, deliveries)).toStrictEqual([idsOf(deliveries)])
  })

  it('name 500 deliveries, count the rest, and say what lists them', async () => {
    const { deps, endpoint } = await world()
    const body = { status: 'abandoned', attempts: 8, nextAttemptAt: undefined, unlisted: undefined } as const
    const rows: Delivery[] = []
    for (let number = 0; number < 510; number++) {
      const delivery = await storedDelivery(deps, endpoint, { ...body, dueAt: undefined })
      await oweAlert(deps, delivery)
      rows.push(delivery)
    }

    await dueAlerts(deps)

    expect(namedIn(deps, rows).map(({ length }) => length)).toStrictEqual([500])
    expect(deps.published[0]?.message).toMatch(/510 deliveries: .* and 10 more\. .*list-deliveries \{"client_id": "/)
    expect(left(deps)).toStrictEqual([])
  })

  it('wait for the next run while the topic does not answer, and lose nothing', async () => {
    const { deps, endpoint } = await world()
    const silent = { ...deps, alerts: { publish: async () => Promise.reject(new Error('no topic')) } }
    const deliveries = await abandonMany(deps, endpoint, 2)

    expect(await dueAlerts(silent)).toMatchObject({ failed: 1 })
    deps.clock.advance(900)
    await dueAlerts(deps)
    deps.clock.advance(900)
    await dueAlerts(deps)

    expect(namedIn(deps, deliveries)).toStrictEqual([idsOf(deliveries)])
  })

  it('go out once when two workers look at the same time', async () => {
    const { deps, endpoint } = await world()
    const [delivery] = await abandonMany(deps, endpoint, 2)
    if (!delivery) throw new Error('no delivery')
    const late = beforeFirst(deps, 'update', () => checkAbandoned(deps, delivery.deliveryId))

    expect(await checkAbandoned(late, delivery.deliveryId)).toBe(false)

    expect(deps.published).toHaveLength(1)
  })

  it('are told again when a worker died after the message, before it was noted', async () => {
    const { deps, endpoint } = await world()
    const delivery = await abandon(deps, endpoint)
    const dead = async () => Promise.reject(new Error('died'))
    const dying = { ...deps, alerts: { publish: (alert: object) => deps.alerts.publish(alert as never).then(dead) } }
    await expect(checkAbandoned(dying, delivery.deliveryId)).rejects.toThrow('died')

    deps.clock.advance(900)
    await dueAlerts(deps)

    expect(namedIn(deps, [delivery])).toStrictEqual([idsOf([delivery]), idsOf([delivery])])
    expect(left(deps)).toStrictEqual([])
  })
})

describe('a redelivery', () => {
  it('tells first what is outstanding of its endpoint', async () => {
    const { deps, endpoint } = await world()
    const told = await abandon(deps, endpoint)
    await dueAlerts(deps)
    const deliveries = await abandonMany(deps, endpoint, 2)
    const [again] = deliveries
    if (!again) throw new Error('no delivery')

    await redeliver(deps, { clientId: endpoint.clientId, deliveryId: again.deliveryId, operator: 'ayu' })

    expect(namedIn(deps, [told, ...deliveries])).toStrictEqual([idsOf([told]), idsOf(deliveries)])
    expect(await rowOf(deps, again)).toMatchObject({ status: 'scheduled', roundStart: 8 })
    expect(left(deps)).toStrictEqual([])
  })
})

describe('what notes an alert', () => {
  it('refuses to take an endpoint that another worker has told of since it was read', async () => {
    const { deps, endpoint } = await world()

    expect(await noteAlert(deps, endpoint, deps.now())).toBe(true)
    expect(await noteAlert(deps, endpoint, deps.now())).toBe(false)
    const now = await findEndpoint(deps, endpoint.clientId, endpoint.endpointId)
    expect(now?.lastAlertAt).toBe(deps.now())
  })

  it('leaves the due work of a new round, and the alert of a later one, alone', async () => {
    const { deps, endpoint } = await world()
    const delivery = await abandon(deps, endpoint)
    const read = await rowOf(deps, delivery)
    await deps.table.transact({ delivery: startRound(read, deps.now()) })

    expect((await deps.table.write(endAlert(read))).applied).toBe(false)
    expect((await deps.table.write(endAlert({ ...read, attempts: 16 }))).applied).toBe(false)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', dueAt: expect.any(String) })
  })
})
