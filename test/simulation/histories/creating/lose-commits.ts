import { passed, passedUntil } from '../../world/drive.ts'
import type { Operation } from '../operations.ts'
import { newCreate } from './new-create.ts'
import { customerActs } from './pay-one.ts'

/**
 * The table leaves the commits of a create unanswered, one or all of them, whether they were applied or not; some stand so
 * long on their way that the environment is frozen meanwhile, until the payment's time is up or just before.
 */
export const loseCommits: Operation = async (play) => {
  const { world } = play
  const { prng } = world
  const isFrozen = prng.chance(0.5)
  const wanted = newCreate(play, { livesSeconds: isFrozen ? 30 : undefined })
  const { pk, send } = wanted
  const standsMs = isFrozen ? 2_500 : prng.pick([0, 300, 2_000])
  world.ailing.set(pk, { lost: prng.pick([1, 2, 3, 4, 4, 4]), standsMs })
  if (isFrozen) wanted.slow(prng.int(20, 300))
  const expiresMs = world.scheduler.nowMs() + 30_000
  const forMs = 27_500 - prng.int(0, 2_000)
  await send(isFrozen ? { standsStill: { afterMs: 1_600, forMs, withClock: true } } : {})
  if (isFrozen) {
    await passedUntil(world, expiresMs + prng.int(-300, 1_500))
    await wanted.sendAnother()
  }
  world.ailing.delete(pk)
  world.slowCallsMs.delete(wanted.paymentId)
  if (prng.chance(0.3)) customerActs(play, wanted.requests())
  await passed(world, prng.pick([10, 500, 4_000]))
  await send()
}
