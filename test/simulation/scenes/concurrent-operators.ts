import { passed } from '../world/drive.ts'
import { changeEndpoint } from './change-endpoints.ts'
import type { Scene } from './scene.ts'

/** Two to four operators change one endpoint at the same moment, in different ways. */
export const concurrentOperators = async (play: Scene): Promise<void> => {
  const { world, tenants } = play
  const { prng } = world
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
