import type { Process } from './process.ts'
import type { World } from './world.ts'

/** A process, and those whose work goes on under its name: what they have left under way in its environment. */
export const namesOf = (world: Pick<World, 'sharing'>, process: Process | undefined): readonly Process[] =>
  process === undefined ? [] : [process, ...namesOf(world, world.sharing.get(process))]
