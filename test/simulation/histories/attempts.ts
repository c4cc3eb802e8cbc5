import { meet } from '../sometimes/meet.ts'
import { passed, passedUntil } from '../world/world.ts'
import { CREATE_FAULTS, type NewCreate, newCreate } from './creates.ts'
import { customerActs, payOne } from './customers.ts'
import type { Operation, Play } from './operations.ts'

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
  meet(world, 'an attempt is frozen during its work')
  const freeze = {
    afterMs: prng.int(60, isCommitting ? 5_000 : 900),
    forMs: 30 * SECOND_MS + prng.int(0, 3_000),
    withClock: prng.chance(0.6),
  }
  await send({ freeze })
  const thawsMs = world.scheduler.nowMs() + freeze.forMs
  if (prng.chance(0.2)) customerActs(play, wanted.requests())
  await passedUntil(world, Math.max(wanted.leaseEndMs(), isAlone ? thawsMs : 0) + prng.int(0, 400))
  const isImpaired = prng.chance(0.5)
  const begun: Promise<void>[] = []
  if (!isAlone) {
    if (prng.chance(0.4)) provider.orderFault({ target: 'create', ...prng.pick(CREATE_FAULTS) })
    wanted.slow(isImpaired || prng.chance(0.5) ? prng.int(isImpaired ? 6_000 : 1_500, 9_000) : undefined)
    begun.push(send())
    await passedUntil(world, thawsMs + prng.int(20, 1_500))
  }
  if (isImpaired) world.impaired.set(pk, { lost: 4, delayMs: 0 })
  if (prng.chance(0.3)) world.contested.set(pk, { untilMs: world.scheduler.nowMs() + 3 * SECOND_MS })
  if (prng.chance(0.4)) {
    // A worker that is told of its money then needs seconds to read its request.
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
  world.impaired.delete(pk)
  await send()
}

const LOST = { target: 'create', fault: 'timeout_after_commit' }
const REFUSED = { target: 'create', fault: 'refuse', value: 'CHANNEL_NOT_ACTIVATED' }

/** Several requests of one payment are paid at once, while the merchant may retry. */
const payTogether = async (play: Play, { send, requests }: NewCreate): Promise<void> => {
  const { prng, provider, slowCallsMs } = play.world
  const goesOn = prng.pick(['no more', 'no more', 'refused', 'made'])
  // A wrong amount that the provider shows late: the gateway remembers it until then.
  if (prng.chance(0.3)) return payOne(play, requests()[0], { wrong: 1, unseen: 1, unheard: 0 })
  const reads = requests().map(({ payment_request_id: id }) => `/v3/payment_requests/${id}`)
  if (goesOn === 'refused') for (const path of reads) slowCallsMs.set(path, 2 * prng.int(500, 1_900))
  if (goesOn === 'refused') provider.orderFault(REFUSED)
  const first = goesOn === 'made' && prng.chance(0.5) ? send() : undefined
  for (const request of requests()) if (prng.chance(0.6)) payOne(play, request, { wrong: 0.2 })
  await passed(play.world, prng.int(5, 900))
  await (first ?? (goesOn === 'no more' ? undefined : send()))
  if (prng.chance(0.3)) customerActs(play, requests())
  for (const path of reads) slowCallsMs.delete(path)
}

/** The first attempt is lost, and others follow. Customers pay or decline any of their requests. */
export const payAttempts: Operation = async (play) => {
  const { world, prng, provider, scheduler } = play
  const wanted = newCreate(play)
  const { paymentId, pk, send } = wanted
  const contest = () => prng.chance(0.5) && world.contested.set(pk, { untilMs: scheduler.nowMs() + 5_000 })
  provider.orderFault(LOST)
  await send()
  for (let left = prng.int(1, 3); left > 0; left--) {
    const how = prng.pick(['lost', 'refused', 'slow', 'slow', 'slow and lost', 'dead'])
    if (how === 'refused') provider.orderFault(REFUSED)
    if (how.endsWith('lost')) provider.orderFault(LOST)
    const slowMs = how.startsWith('slow') || how === 'dead' ? prng.int(1_000, 7_000) : undefined
    wanted.slow(slowMs)
    const words = prng.chance(0.3) ? wanted.otherWords() : undefined
    const dies = how === 'dead' && { freeze: { afterMs: prng.int(60, 800), forMs: 3_600_000 } }
    const sent = send(dies || {}, words)
    contest()
    // Soon after it began, or just before its end.
    await passed(world, slowMs === undefined || prng.chance(0.5) ? prng.int(20, 800) : slowMs - prng.int(-100, 500))
    if (prng.chance(0.6)) customerActs(play, wanted.requests())
    // Often the customer of a lost attempt pays just after the next one is done.
    await sent
    wanted.slow(undefined)
    if (how === 'dead') await passedUntil(world, wanted.leaseEndMs() + prng.int(-100, 3_000))
    if (prng.chance(0.3)) customerActs(play, wanted.requests())
    if (prng.chance(0.3)) await passed(world, prng.int(10, 40_000))
  }
  contest()
  await payTogether(play, wanted)
  world.slowCallsMs.delete(paymentId)
}
