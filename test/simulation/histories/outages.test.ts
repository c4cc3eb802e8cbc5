/**
 * Goal: a message that was not sent costs minutes, and an outage of the queues no more than ten
 * after its end. Method: payments succeed on the simulation's clock while nothing can be sent, or
 * no queue can be reached for an hour. Nothing else goes wrong; the watchers of the simulation look
 * at every write and POST.
 */
import { describe, expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../shared/time.ts'
import { createAs } from '../scenes/http.ts'
import { NO_FAULTS } from '../world/faults.ts'
import { operate } from '../world/lambda.ts'
import { deliveryStatus, rowsOf } from '../world/rows.ts'
import type { SimEndpoint, Tenant } from '../world/tenants.ts'
import { QUEUES_DOWN, runUntil } from '../world/world.ts'
import { startPlay } from './history.ts'

const BODY = JSON.stringify({
  method: 'virtual_account',
  channel_code: 'BNI',
  amount: 300_000,
  currency: 'IDR',
})
const PAYMENTS = 12

describe('an outage of the queues', () => {
  it.each([
    ['in which no message can be sent', 'two', { queueSendFails: 1 }, 0],
    ['of an hour, in which one message in ten is sent', 'ten', { queueSendFails: 0.9 }, HOUR_MS],
    [
      'of an hour, in which no queue can be reached',
      'ten',
      { queuesDown: Number.MIN_VALUE },
      HOUR_MS,
    ],
  ])(
    '%s delays events by at most %s minutes after its end',
    async (_, minutes, faults, lastsMs) => {
      const play = await startPlay({ seed: 5 })
      const { world, tenants } = play
      const pass = (ms: number) => world.scheduler.runFor(ms)
      const waiting: string[] = []
      for (let made = 0; made < PAYMENTS; made++) {
        const reply = await runUntil(
          world,
          createAs(play, tenants[1] as Tenant, `key-${made}`, BODY),
        )
        waiting.push(String(reply?.body['id']))
        await pass(1_000)
      }
      const deliveries = () => rowsOf(world, 'DELIVERY')
      const states = () => [...new Set(deliveries().map(deliveryStatus))]
      const endMs = world.scheduler.nowMs() + lastsMs
      if ('queuesDown' in faults)
        world.lastingFaults.set(QUEUES_DOWN, { isOn: true, untilMs: endMs })
      world.faults = { ...NO_FAULTS, ...faults }

      for (const share of [1, 2, 3]) {
        for (const id of waiting.splice(0, PAYMENTS / 3)) {
          const [request] = world.provider.findPaymentRequests(id)
          world.provider.simulatePayment(request?.payment_request_id ?? '')
        }
        await pass(10_000)
        await pass((share * lastsMs) / 12)
      }
      await world.scheduler.runUntil(endMs)
      expect([deliveries().length, states()]).toStrictEqual([
        2 * PAYMENTS,
        expect.arrayContaining(['scheduled']),
      ])
      world.faults = NO_FAULTS
      await pass(minutes === 'two' ? 2 * MINUTE_MS : 10 * MINUTE_MS)

      expect([states(), play.world.problems]).toStrictEqual([['succeeded'], []])
      expect(deliveries().map(({ attempts }) => attempts)).toStrictEqual(deliveries().map(() => 1))
      expect(world.merchants.received).toHaveLength(2 * PAYMENTS)
    },
  )
})

/**
 * Goal: an endpoint that hangs delays no delivery to its neighbours, and loses none of its own.
 * Method: the whole gateway on the simulation's clock, every endpoint at the same load, once with a
 * hanging endpoint and once without; five workers in the common lane, which ten hanging attempts
 * would hold for good. `watchLanes` looks at every POST. Nothing here depends on the machine: the
 * same seed gives the same times.
 */
const LOAD_MS = 60_000
const EVERY_MS = 500
/** An attempt that hangs ends after ten seconds, and then its endpoint is marked. */
const KNOWN_AFTER_MS = 12_000

/** The first endpoint may hang. */
async function measureUnderLoad(hangs: boolean) {
  const play = await startPlay({ seed: 5 })
  const { world } = play
  const [first, ...neighbours] = play.tenants.flatMap(({ clientId, endpoints }) =>
    endpoints.map((endpoint) => ({ clientId, ...endpoint })),
  )
  if (!first) throw new Error('there is no endpoint')
  if (hangs) world.merchants.impaired.set(first.url, 'hangs')
  const fromMs = world.scheduler.nowMs()
  while (world.scheduler.nowMs() < fromMs + LOAD_MS) {
    for (const { clientId, endpointId } of [first, ...neighbours]) {
      void operate(world, 'send-test-event', { client_id: clientId, endpoint_id: endpointId })
    }
    await world.scheduler.runFor(EVERY_MS)
  }
  const of = ({ endpointId }: SimEndpoint) =>
    rowsOf(world, 'TEST').filter((row) => row['endpoint_id'] === endpointId)
  const waits = () => {
    const came = new Map(world.merchants.received.map(({ deliveryId, atMs }) => [deliveryId, atMs]))
    return neighbours.flatMap(of).flatMap((row) => {
      const madeMs = Date.parse(String(row['created_at']))
      const atMs = came.get(String(row['delivery_id']))
      return madeMs < fromMs + KNOWN_AFTER_MS ? [] : [(atMs ?? Number.POSITIVE_INFINITY) - madeMs]
    })
  }
  return { play, world, first, of, waits }
}

describe('beside an endpoint that hangs, at equal load', () => {
  it('no neighbour waits, no worker of the common lane is held, and every delivery ends as the schedule says', async () => {
    const calm = await measureUnderLoad(false)
    const { play, world, first, of, waits } = await measureUnderLoad(true)

    const [without, beside] = [calm.waits(), waits()]
    expect(beside.length).toBe(without.length)
    expect(Math.max(...beside)).toBeLessThan(1_000)
    expect(Math.max(...without)).toBeLessThan(1_000)
    const p99 = (ms: readonly number[]) =>
      ms.toSorted((a, b) => a - b)[Math.floor(ms.length * 0.99)] ?? Number.NaN
    expect(p99(beside) / p99(without)).toBeLessThanOrEqual(1.1)
    const own = of(first)
    expect(own.length).toBe(LOAD_MS / EVERY_MS)
    expect(world.tally.get('sometimes: an attempt goes through the slow lane')).toBeGreaterThan(10)

    world.merchants.impaired.clear()
    await world.scheduler.runFor(3 * HOUR_MS)

    expect(play.world.problems).toStrictEqual([])
    expect(of(first).map(deliveryStatus)).toStrictEqual(own.map(() => 'succeeded'))
    expect(Math.max(...of(first).map((row) => Number(row['attempts'])))).toBeLessThanOrEqual(8)
    const { clientId, endpointId } = first
    const row = world.table.item({ pk: `ENDPOINTS#${clientId}`, sk: `ENDPOINT#${endpointId}` })
    expect(row).not.toHaveProperty('slow_since')
  })
})
