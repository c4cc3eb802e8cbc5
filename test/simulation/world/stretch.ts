import { count } from './tally.ts'
import { tell, type World } from './world.ts'

/** Whether a trouble that lasts is under way, and until when that was drawn. */
export type Stretch = { readonly isOn: boolean; readonly untilMs: number }

export type StretchTimes = { readonly leastMs: number; readonly mostMs: number }

/**
 * Whether what lasts for a while, good or bad, is bad just now: drawn anew when its time is over. `probability` is the
 * fault's of this history.
 */
export const inStretch = (world: World, what: string, probability: number, { leastMs, mostMs }: StretchTimes) => {
  if (probability === 0) return false
  const nowMs = world.scheduler.nowMs()
  const known = world.stretches.get(what)
  if (known && nowMs < known.untilMs) return known.isOn
  const isOn = world.prng.chance(probability)
  world.stretches.set(what, { isOn, untilMs: nowMs + world.prng.int(leastMs, mostMs) })
  if (isOn) tell(world, () => `  ! ${what}`)
  if (isOn) count(world.tally, `stretch: ${what}`)
  return isOn
}

export const QUEUES_DOWN = 'queues down'
const DOWN_TIMES = { leastMs: 60_000, mostMs: 3_600_000 }

/** Until when no queue can be reached; 0 while they can. */
export const queuesDownUntilMs = (world: World): number =>
  inStretch(world, QUEUES_DOWN, world.faults.queuesDown, DOWN_TIMES)
    ? (world.stretches.get(QUEUES_DOWN)?.untilMs ?? 0)
    : 0
