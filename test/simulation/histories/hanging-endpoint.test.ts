/**
 * Goal: beside an endpoint that hangs, its neighbours are delivered to as without it, and it loses nothing itself.
 * Method: the whole gateway on the simulation's clock, every endpoint at the same load, once with one that hangs and once
 * without; five workers in the common lane, which ten hanging attempts would hold for good. `watch-posts.ts` looks at
 * every POST. Nothing here depends on the machine: the same seed gives the same times.
 */
import { describe, expect, it } from 'vitest'
import { loadFunctions } from '../world/handlers.ts'
import { operate } from '../world/lambda.ts'
import { rowsOf } from '../world/rows.ts'
import { startPlay } from './history.ts'
import type { Play } from './operations.ts'

const LOAD_MS = 60_000
/** Of each endpoint. */
const EVERY_MS = 500
/** An attempt that hangs ends after ten seconds, and then its endpoint is marked. */
const KNOWN_AFTER_MS = 12_000
const HOUR_MS = 3_600_000

const functions = await loadFunctions()

type Endpoint = { readonly clientId: string; readonly endpointId: string; readonly url: string }

const endpointsOf = ({ tenants }: Play): readonly Endpoint[] =>
  tenants.flatMap(({ clientId, endpoints }) => endpoints.map((endpoint) => ({ clientId, ...endpoint })))

/** A minute of test events, and what became of them; the first endpoint hangs or does not. */
const underLoad = async (hangs: boolean) => {
  const play = await startPlay({ seed: 5, functions })
  const { world } = play
  const [first, ...neighbours] = endpointsOf(play)
  if (!first) throw new Error('there is no endpoint')
  if (hangs) world.merchants.hanging.add(first.url)
  const fromMs = world.scheduler.nowMs()
  while (world.scheduler.nowMs() < fromMs + LOAD_MS) {
    for (const { clientId, endpointId } of [first, ...neighbours]) {
      void operate(world, 'send-test-event', { client_id: clientId, endpoint_id: endpointId })
    }
    await world.scheduler.runFor(EVERY_MS)
  }
  const deliveries = () => rowsOf(world, 'DELIVERY')
  const of = ({ endpointId }: Endpoint) => deliveries().filter((row) => row['endpoint_id'] === endpointId)
  /** Milliseconds from each delivery of the neighbours to its POST, of those made once the endpoint is known. */
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
    const calm = await underLoad(false)
    const { play, world, first, of, waits } = await underLoad(true)

    const [without, beside] = [calm.waits(), waits()]
    expect(beside.length).toBe(without.length)
    expect(Math.max(...beside)).toBeLessThan(1_000)
    expect(Math.max(...without)).toBeLessThan(1_000)
    const own = of(first)
    expect(own.length).toBe(LOAD_MS / EVERY_MS)
    expect(world.tally.get('sometimes: an attempt goes through the slow lane')).toBeGreaterThan(10)

    world.merchants.hanging.clear()
    await world.scheduler.runFor(3 * HOUR_MS)

    expect(play.seen.problems).toStrictEqual([])
    expect(of(first).map((row) => row['status'] ?? row['state'])).toStrictEqual(own.map(() => 'succeeded'))
    expect(Math.max(...of(first).map((row) => Number(row['attempts'])))).toBeLessThanOrEqual(8)
    const { clientId, endpointId } = first
    const row = world.table.item({ pk: `ENDPOINTS#${clientId}`, sk: `ENDPOINT#${endpointId}` })
    expect(row).not.toHaveProperty('slow_since')
  })
})
