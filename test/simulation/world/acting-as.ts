import type { Process } from './process.ts'
import type { World } from './world.ts'

/** An effect on the world, which hears meanwhile whose it is. */
export const actingAs =
  <Answer>(world: World, process: Process, effect: () => Answer) =>
  (): Answer => {
    world.acting = process
    try {
      return effect()
    } finally {
      world.acting = undefined
    }
  }
