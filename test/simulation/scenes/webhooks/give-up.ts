import { passed } from '../../world/drive.ts'
import { operate } from '../../world/lambda.ts'
import { count } from '../../world/tally.ts'
import type { Scene } from '../scene.ts'

const MINUTE_MS = 60_000
/** Eight attempts and the seven waits between them. */
const ROUND_MS = 128 * MINUTE_MS

/**
 * A merchant's server takes no connection for as long as a round, or two: several deliveries to it are given up together,
 * and one more within the quarter of an hour in which nobody is told of them.
 */
export const giveUp = async ({ world, tenants }: Scene): Promise<void> => {
  const { prng, merchants } = world
  const tenant = prng.pick(tenants)
  const live = tenant.endpoints.filter(({ url, isGone }) => isGone !== true && !merchants.ailing.has(url))
  if (live.length === 0) return
  const { endpointId, url } = prng.pick(live)
  const asked = { client_id: tenant.clientId, endpoint_id: endpointId }
  const send = async (times: number) => {
    await Promise.all(Array.from({ length: times }, () => operate(world, 'send-test-event', asked)))
  }
  count(world.tally, 'endpoint refuses for a round')
  merchants.ailing.set(url, 'refuses')
  await send(prng.int(1, 2))
  await passed(world, prng.int(1, 12 * MINUTE_MS))
  await send(1)
  await passed(world, ROUND_MS * prng.pick([1, 1, 2]) + prng.int(0, 10 * MINUTE_MS))
  merchants.ailing.delete(url)
}
