import { type RawItem, text } from '../../support/recount/books.ts'
import { passed } from '../world/drive.ts'
import { operate } from '../world/lambda.ts'
import type { Ailment } from '../world/merchants.ts'
import { count } from '../world/tally.ts'
import { addEndpoint, type SimEndpoint, type Tenant } from '../world/tenants.ts'
import { isHit, type World } from '../world/world.ts'
import type { Scene } from './http.ts'

/** Clocks differ by twenty seconds at most, and a worker makes a few calls between its read of an endpoint and its POST. */
const NEAR_MS = 60_000

type Change = (play: Scene, tenant: Tenant, endpoint: SimEndpoint) => Promise<void>

/** An operator's action. Its answer may be lost. */
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
    // The order of two concurrent changes is unknown.
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

/** As a rotation of its secret does it: the new one first. One whose registration was not answered is not used. */
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

/** An endpoint is disabled, enabled, resubscribed, deleted or replaced during all other work. */
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

/** Two to four operators change one endpoint at the same moment, in different ways. */
export const changeOneEndpointTogether = async (play: Scene): Promise<void> => {
  const { world, tenants, prng } = play
  if (world.faults.endpointChanges === 0) return
  const tenant = prng.pick(tenants)
  const live = tenant.endpoints.filter(({ isGone }) => isGone !== true)
  if (live.length === 0) return
  const endpoint = prng.pick(live)
  const operators = Array.from({ length: prng.int(2, 4) }, async () => {
    await passed(world, prng.int(0, 30))
    await changeEndpoint(play, tenant, endpoint)
  })
  await Promise.all(operators)
}

const MINUTE_MS = 60_000
/** Some attempts long, or whole rounds of them. */
const LONG_MS = [2 * MINUTE_MS, 20 * MINUTE_MS, 150 * MINUTE_MS, 400 * MINUTE_MS]

/** It gets worse before it gets better. */
const COURSES: readonly (readonly Ailment[])[] = [['late'], ['late'], ['late', 'refuses']]

/** A server answers so late that it holds its caller, or takes no connection, while an operator tests it. */
export const ailEndpoint = async (play: Scene): Promise<void> => {
  const { world, tenants, prng, scheduler, merchants } = play
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
