import { text } from '../../../support/recount/books.ts'
import { passed } from '../../world/drive.ts'
import type { Faults } from '../../world/faults.ts'
import { invoke, operate } from '../../world/lambda.ts'
import type { SimEndpoint, Tenant } from '../../world/tenants.ts'
import { changeEndpoint, setEnabled } from '../change-endpoints.ts'
import type { Scene } from '../scene.ts'
import { rounds } from '../send-again.ts'

/** An endpoint is switched off for a while; meanwhile everybody who may not has something sent to it. */
const switchOff = async (play: Scene, tenant: Tenant, endpoint: SimEndpoint, whileMs: number): Promise<void> => {
  const { world } = play
  await setEnabled(false)(play, tenant, endpoint)
  const own = world.table
    .items('DELIVERY#')
    .filter(({ sk, endpoint_id: id }) => sk === 'DELIVERY' && id === endpoint.endpointId)
  if (own.length > 0) {
    const id = text(world.oddities.pick(own), 'delivery_id')
    await Promise.all(rounds(play, tenant, { id, endpointId: endpoint.endpointId }).map((begin) => begin()))
  }
  const named = { client_id: tenant.clientId, endpoint_id: endpoint.endpointId }
  await operate(world, 'send-test-event', { ...named })
  await passed(world, world.oddities.int(0, whileMs))
  await setEnabled(true)(play, tenant, endpoint)
}

export const switchEndpointOff = async (play: Scene): Promise<void> => {
  const { world, tenants } = play
  if (world.faults.endpointChanges === 0) return
  const tenant = world.oddities.pick(tenants)
  const live = tenant.endpoints.filter(({ isGone }) => isGone !== true)
  if (live.length > 0) await switchOff(play, tenant, world.oddities.pick(live), 300_000)
}

/**
 * An endpoint is changed in between: just after a delivery to it was made, or while a worker has its message in
 * hand. Mostly it is switched off for some seconds, and now and then changed for good.
 */
export const changeInBetween = (play: Scene, faults: Faults): void => {
  const { world, tenants } = play
  const { oddities, scheduler } = world
  const change = (endpointId: string, chance: number): boolean => {
    if (faults.endpointChanges === 0 || world.faults !== faults || !oddities.chance(chance)) return false
    for (const tenant of tenants) {
      const endpoint = tenant.endpoints.find((one) => one.endpointId === endpointId && one.isGone !== true)
      if (endpoint === undefined) continue
      const isForGood = oddities.chance(0.2)
      const begin = () =>
        isForGood ? changeEndpoint(play, tenant, endpoint) : switchOff(play, tenant, endpoint, 5_000)
      scheduler.after(oddities.int(0, 30), () => void begin())
    }
    return true
  }
  const isAgain = new WeakSet<object>()
  world.onStarted.push((process, event) => {
    if (process.name !== 'deliver-webhook' || isAgain.has(Object(event))) return
    const message: unknown = JSON.parse(String(Object(event).Records?.[0]?.body))
    if (!change(String(Object(message).endpoint_id), 0.04) || oddities.chance(0.3)) return
    // After its first look it stands still until that is over; its message comes to another one, who looks then.
    const untilMs = oddities.int(500, 3_000)
    scheduler.after(oddities.int(5, 20), () => process.freeze())
    scheduler.after(untilMs, () => process.thaw())
    isAgain.add(Object(event))
    scheduler.after(untilMs + oddities.int(-10, 20), () => void invoke(world, process.name, event))
  })
  world.onChange.push(({ key, before, after }) => {
    if (key.sk === 'DELIVERY' && before === undefined) change(String(after?.['endpoint_id']), 0.05)
  })
}
