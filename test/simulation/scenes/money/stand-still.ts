import { invoke, operate } from '../../world/lambda.ts'
import { count } from '../../world/tally.ts'
import type { Scene } from '../scene.ts'

/** A moment, and behind the five minutes for which a slice is leased. */
const STANDS_MS = [5_000, 150_000, 320_000, 400_000]

/** Within what a sync, or a settlement that is summed, takes from its first call to its last. */
const INTO_MS = { sync: 1_500, settlement: 250 }

/**
 * Whoever syncs, or settles, stands still in the midst of it, and goes on minutes later, when others have done its work or
 * are about to: with what it had read by then.
 */
export const standStill = async ({ world, tenants }: Scene): Promise<void> => {
  const { prng, scheduler } = world
  // A release that stands still goes on beside the other one, which has rules of its own.
  if (world.beside) return
  const forMs = prng.pick(STANDS_MS)
  const passed = (ms: number) => new Promise<void>((resolve) => void scheduler.after(ms, resolve))
  if (prng.chance(0.6)) {
    const begin = (standsStill?: { afterMs: number; forMs: number }) =>
      invoke(world, 'sync-provider-transactions', {}, { standsStill })
    await begin({ afterMs: prng.int(5, INTO_MS.sync), forMs })
    if (prng.chance(0.5)) await begin()
    await passed(forMs + prng.int(0, 1_000))
    count(world.tally, 'stood still in the midst of a sync')
    await begin()
    return
  }
  const about = { operator: 'sim', client_id: prng.pick(tenants).clientId }
  await invoke(world, 'trigger-settlement', about, { standsStill: { afterMs: prng.int(5, INTO_MS.settlement), forMs } })
  if (prng.chance(0.5)) await operate(world, 'trigger-settlement', about)
  await passed(forMs + prng.int(0, 1_000))
  count(world.tally, 'stood still in the midst of a settlement')
  await operate(world, 'trigger-settlement', about)
}
