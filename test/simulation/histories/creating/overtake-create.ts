import { meet } from '../../sometimes/meet.ts'
import { passed, passedUntil } from '../../world/drive.ts'
import type { Operation } from '../operations.ts'
import { newCreate } from './new-create.ts'
import { customerActs, payOne } from './pay-one.ts'

const FAILS = [
  { fault: 'refuse', value: 'CHANNEL_NOT_ACTIVATED' },
  { fault: 'http_503' },
  { fault: 'timeout_after_commit' },
  { fault: 'timeout' },
]
const SECOND_MS = 1_000

/**
 * An attempt stands still while the provider is asked, and goes on after the end of its lease: beside or after the one
 * that took over, or where nobody did and its time is up; whether the provider had made its request, refused it or was
 * never heard; and while the table leaves its commits unanswered.
 */
export const overtakeCreate: Operation = async (play) => {
  const { world } = play
  const { prng, provider } = world
  const isAlone = prng.chance(0.3)
  const livesSeconds = prng.chance(isAlone ? 0.6 : 0.2) ? prng.int(30, 34) : undefined
  const wanted = newCreate(play, { isPush: !isAlone && prng.chance(0.3), livesSeconds })
  const { paymentId, pk, send } = wanted
  const isFailing = prng.chance(0.3)
  if (isFailing) provider.orderFault({ target: 'create', ...prng.pick(FAILS) })
  wanted.slow(prng.int(1_000, 3_000))
  const isCommitting = !isFailing && prng.chance(0.3)
  if (isCommitting) world.ailing.set(pk, { lost: prng.int(1, 4), standsMs: prng.int(500, 2_500) })
  meet(world, 'an attempt stands still in the midst')
  const standsStill = {
    afterMs: prng.int(60, isCommitting ? 5_000 : 900),
    forMs: 30 * SECOND_MS + prng.int(0, 3_000),
    withClock: prng.chance(0.6),
  }
  await send({ standsStill })
  const thawsMs = world.scheduler.nowMs() + standsStill.forMs
  if (prng.chance(0.2)) customerActs(play, wanted.requests())
  await passedUntil(world, Math.max(wanted.leaseEndMs(), isAlone ? thawsMs : 0) + prng.int(0, 400))
  const isAiling = prng.chance(0.5)
  const begun: Promise<void>[] = []
  if (!isAlone) {
    if (prng.chance(0.4)) provider.orderFault({ target: 'create', ...prng.pick(FAILS) })
    wanted.slow(isAiling || prng.chance(0.5) ? prng.int(isAiling ? 6_000 : 1_500, 9_000) : undefined)
    begun.push(send())
    await passedUntil(world, thawsMs + prng.int(20, 1_500))
  }
  if (isAiling) world.ailing.set(pk, { lost: 4, standsMs: 0 })
  if (prng.chance(0.3)) world.contested.set(pk, { untilMs: world.scheduler.nowMs() + 3 * SECOND_MS })
  if (prng.chance(0.4)) {
    // A worker that hears of its money reads its request for some seconds.
    const [request] = wanted.requests()
    world.slowCallsMs.set(`/v3/payment_requests/${request?.payment_request_id}`, 2 * prng.int(700, 1_900))
    payOne(play, request, { unheard: 0, unseen: 0 })
    await passed(world, prng.int(300, 700))
  }
  // The next caller thaws it.
  begun.push(wanted.sendAnother())
  await passed(world, prng.int(20, 1_000))
  if (prng.chance(0.4)) payOne(play, wanted.requests()[0])
  await Promise.all(begun)
  world.slowCallsMs.delete(paymentId)
  world.ailing.delete(pk)
  await send()
}
