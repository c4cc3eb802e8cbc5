import { meet } from '../../sometimes/meet.ts'
import { passed } from '../../world/drive.ts'
import { invoke, operate } from '../../world/lambda.ts'
import type { Scene } from '../scene.ts'

/** A moment, and after the five minutes for which a slice is leased. */
const STANDS_MS = [5_000, 150_000, 320_000, 400_000]

/** Within what a settlement takes from its first call to its last. */
const SETTLING_MS = 250

/** A sync stands still so long after it has begun, and goes on in the midst of another one, minutes later. */
export const standStillInSync = async (scene: Scene, afterMs: number): Promise<void> => {
  const { world } = scene
  const { prng } = world
  const forMs = prng.pick(STANDS_MS)
  const begin = (standsStill?: { afterMs: number; forMs: number }) =>
    invoke(world, 'sync-provider-transactions', {}, { standsStill })
  await begin({ afterMs, forMs })
  if (prng.chance(0.5)) await begin()
  await passed(world, forMs + prng.int(0, 1_000))
  meet(world, 'a sync stands still in the midst')
  await begin()
}

/**
 * A sync, or a settling, stands still in the midst of it, and goes on minutes later, when others have done its work or
 * are about to: with what it had read by then.
 */
export const goOnLate = async (scene: Scene): Promise<void> => {
  const { world, tenants } = scene
  const { prng } = world
  if (prng.chance(0.6)) return standStillInSync(scene, prng.int(5, 1_500))
  const forMs = prng.pick(STANDS_MS)
  const about = { client_id: prng.pick(tenants).clientId }
  await operate(world, 'trigger-settlement', about, { standsStill: { afterMs: prng.int(5, SETTLING_MS), forMs } })
  if (prng.chance(0.5)) await operate(world, 'trigger-settlement', about)
  await passed(world, forMs + prng.int(0, 1_000))
  meet(world, 'a settlement stands still in the midst')
  await operate(world, 'trigger-settlement', about)
}
