import type { RawItem } from '../../support/recount/books.ts'
import { text } from '../../support/recount/books.ts'
import { operate } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import { addEndpoint, type SimEndpoint, type Tenant } from '../world/tenants.ts'
import { isHit, type World } from '../world/world.ts'
import type { Scene } from './scene.ts'

/** Machines' clocks differ by twenty seconds at most, and a worker takes a few calls from its look at an endpoint to its POST. */
const NEAR_MS = 60_000

type Change = (play: Scene, tenant: Tenant, endpoint: SimEndpoint) => Promise<void>

/** What an operator asked for, of which nobody may have heard the answer. */
const ask = (world: World, action: string, tenant: Tenant, endpoint: SimEndpoint, fields: object = {}) =>
  operate(world, action, { client_id: tenant.clientId, endpoint_id: endpoint.endpointId, ...fields })

/** Until an answer says so, it may be either. */
export const setEnabled =
  (enabled: boolean): Change =>
  async ({ world }, tenant, endpoint) => {
    endpoint.silentFromMs = undefined
    const own = (endpoint.changes = (endpoint.changes ?? 0) + 1)
    endpoint.underWay = (endpoint.underWay ?? 0) + 1
    const reply = await ask(world, 'update-endpoint', tenant, endpoint, { enabled })
    endpoint.underWay--
    if (reply?.status !== 200) return
    count(world.tally, enabled ? 'endpoint enabled' : 'endpoint disabled')
    // Of two at once nobody knows which was last.
    if (!enabled && endpoint.changes === own && endpoint.underWay === 0) endpoint.silentFromMs = world.scheduler.nowMs()
  }

const subscribeAnew: Change = async ({ world }, tenant, endpoint) => {
  endpoint.hearsAll = false
  const reply = await ask(world, 'update-endpoint', tenant, endpoint, { event_types: ['payment.succeeded'] })
  if (reply?.status === 200) count(world.tally, 'endpoint subscribed anew')
}

const remove: Change = async ({ world }, tenant, endpoint) => {
  endpoint.hearsAll = false
  const reply = await ask(world, 'delete-endpoint', tenant, endpoint)
  if (reply?.status !== 200) return
  count(world.tally, 'endpoint deleted')
  endpoint.isGone = true
  endpoint.silentFromMs = world.scheduler.nowMs()
}

/** As a rotation of its secret does it: the new one first. One whose registration was not answered is nobody's. */
const replace: Change = async (play, tenant, endpoint) => {
  const { world } = play
  const made = await addEndpoint(world, tenant.clientId)
  if (made) {
    tenant.endpoints.push({ ...made, hearsFromMs: world.scheduler.nowMs() })
    count(world.tally, 'endpoint replaced')
  }
  await remove(play, tenant, endpoint)
}

const CHANGES: readonly Change[] = [setEnabled(false), setEnabled(true), subscribeAnew, remove, replace, replace]

/** One of them happens to it. */
export const changeEndpoint: Change = (play, tenant, endpoint) => play.world.prng.pick(CHANGES)(play, tenant, endpoint)

/** An endpoint is disabled, enabled, subscribed anew, deleted or replaced in the midst of everything. */
export const changeEndpoints = async (play: Scene): Promise<void> => {
  const { world, tenants } = play
  if (!isHit(world, 'endpointChanges')) return
  const tenant = world.prng.pick(tenants)
  const live = tenant.endpoints.filter(({ isGone }) => isGone !== true)
  if (live.length > 0) await changeEndpoint(play, tenant, world.prng.pick(live))
}

/** Whether an event must have come to an endpoint: one that was there before, and stayed as it was. */
export const mustHear = (tenants: readonly Tenant[], endpointId: string, event: RawItem): boolean => {
  const endpoint = tenants.flatMap(({ endpoints }) => endpoints).find((one) => one.endpointId === endpointId)
  if (endpoint === undefined || endpoint.hearsAll === false) return false
  return Date.parse(text(event, 'fired_at')) > (endpoint.hearsFromMs ?? 0) + NEAR_MS
}

/** Checked at every single POST: nothing goes to an endpoint that was deleted or disabled a while ago. */
export const watchEndpoints = ({ world, tenants, seen }: Pick<Scene, 'world' | 'tenants' | 'seen'>): void => {
  world.onPost.push(({ url }) => {
    const endpoint = tenants.flatMap(({ endpoints }) => endpoints).find((one) => one.url === url)
    const silentMs = world.scheduler.nowMs() - (endpoint?.silentFromMs ?? Number.POSITIVE_INFINITY)
    if (silentMs > NEAR_MS) seen.problems.push(`a POST to ${url}, which was switched off ${silentMs} ms ago`)
  })
}
