import { passed } from '../world/drive.ts'
import { operate } from '../world/lambda.ts'
import type { Ailment } from '../world/merchants.ts'
import { count } from '../world/tally.ts'
import type { Scene } from './scene.ts'

const MINUTE_MS = 60_000
/** Some attempts long, or whole rounds of them. */
const LONG_MS = [2 * MINUTE_MS, 20 * MINUTE_MS, 150 * MINUTE_MS, 400 * MINUTE_MS]

/** It gets worse before it gets better. */
const COURSES: readonly (readonly Ailment[])[] = [['late'], ['late'], ['late', 'refuses']]

/**
 * A merchant's server ails for a while: it answers so late that it holds its caller, or takes no connection at all. So
 * marks are given and taken off, and rounds come to nothing one after the other. An operator tests it meanwhile.
 */
export const ailEndpoint = async (play: Scene): Promise<void> => {
  const { world, tenants } = play
  const { prng, scheduler, merchants } = world
  const { clientId, endpoints } = prng.pick(tenants)
  const { endpointId, url } = prng.pick(endpoints)
  if (merchants.ailing.has(url)) return
  for (const ailment of prng.pick(COURSES)) {
    count(world.tally, `endpoint ${ailment}`)
    merchants.ailing.set(url, ailment)
    const untilMs = scheduler.nowMs() + prng.pick(LONG_MS) * (0.5 + prng.next())
    for (let left = prng.int(1, 4); left > 0 && scheduler.nowMs() < untilMs; left--) {
      await operate(world, 'send-test-event', { client_id: clientId, endpoint_id: endpointId })
      await passed(world, prng.int(0, 30_000))
    }
    await passed(world, Math.ceil(Math.max(0, untilMs - scheduler.nowMs())))
  }
  merchants.ailing.delete(url)
}
