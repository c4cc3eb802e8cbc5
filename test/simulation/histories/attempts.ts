import { reportSituation } from '../sometimes/report-situation.ts'
import { waitFor, waitUntil } from '../world/world.ts'
import { CREATE_FAULTS, newCreate } from './creates.ts'
import { customerActs, payOne } from './customers.ts'
import type { Operation } from './operations.ts'

const SECOND_MS = 1_000

/** An attempt is frozen during its call to the provider, and continues beside the attempt that took over, or alone. */
export const overtakeCreate: Operation = async (play) => {
  const { world, prng, provider } = play
  const isAlone = prng.chance(0.3)
  const livesSeconds = prng.chance(isAlone ? 0.6 : 0.2) ? prng.int(30, 34) : undefined
  const wanted = newCreate(play, { isPush: !isAlone && prng.chance(0.3), livesSeconds })
  const { paymentId, pk, send } = wanted
  const isFailing = prng.chance(0.3)
  if (isFailing) provider.orderFault({ target: 'create', ...prng.pick(CREATE_FAULTS) })
  wanted.slow(prng.int(1_000, 3_000))
  const isCommitting = !isFailing && prng.chance(0.3)
  if (isCommitting) world.impaired.set(pk, { lost: prng.int(1, 4), delayMs: prng.int(500, 2_500) })
  reportSituation(world, 'an attempt is frozen during its work')
  const freeze = {
    afterMs: prng.int(60, isCommitting ? 5_000 : 900),
    forMs: 30 * SECOND_MS + prng.int(0, 3_000),
    withClock: prng.chance(0.6),
  }
  await send({ freeze })
  const thawsMs = world.scheduler.nowMs() + freeze.forMs
  if (prng.chance(0.2)) customerActs(play, wanted.requests())
  await waitUntil(world, Math.max(wanted.leaseEndMs(), isAlone ? thawsMs : 0) + prng.int(0, 400))
  const isImpaired = prng.chance(0.5)
  const begun: Promise<void>[] = []
  if (!isAlone) {
    if (prng.chance(0.4)) provider.orderFault({ target: 'create', ...prng.pick(CREATE_FAULTS) })
    wanted.slow(isImpaired || prng.chance(0.5) ? prng.int(isImpaired ? 6_000 : 1_500, 9_000) : undefined)
    begun.push(send())
    await waitUntil(world, thawsMs + prng.int(20, 1_500))
  }
  if (isImpaired) world.impaired.set(pk, { lost: 4, delayMs: 0 })
  if (prng.chance(0.3)) world.contested.set(pk, { untilMs: world.scheduler.nowMs() + 3 * SECOND_MS })
  if (prng.chance(0.4)) {
    // A worker that gets its callback then needs seconds to read its request.
    const [request] = wanted.requests()
    world.slowCallsMs.set(`/v3/payment_requests/${request?.payment_request_id}`, 2 * prng.int(700, 1_900))
    payOne(play, request, { unannounced: 0, unseen: 0 })
    await waitFor(world, prng.int(300, 700))
  }
  // The next caller thaws it.
  begun.push(wanted.sendAnother())
  await waitFor(world, prng.int(20, 1_000))
  if (prng.chance(0.4)) payOne(play, wanted.requests()[0])
  await Promise.all(begun)
  world.slowCallsMs.delete(paymentId)
  world.impaired.delete(pk)
  await send()
}
