import type { Observations } from '../watching/observations.ts'
import type { Tenant } from '../world/tenants.ts'
import type { World } from '../world/world.ts'

/** Where a scene is played, and by whom: a part of a history. */
export type Scene = {
  readonly world: World
  readonly tenants: Tenant[]
  readonly seen: Observations
}
