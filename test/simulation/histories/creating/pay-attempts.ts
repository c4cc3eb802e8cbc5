import { passed, passedUntil } from '../../world/drive.ts'
import type { Operation, Play } from '../operations.ts'
import { type NewCreate, newCreate } from './new-create.ts'
import { customerActs, payOne } from './pay-one.ts'

const LOST = { target: 'create', fault: 'timeout_after_commit' }
const REFUSED = { target: 'create', fault: 'refuse', value: 'CHANNEL_NOT_ACTIVATED' }

/**
 * Whatever the attempts have left is paid at the same moment; and the merchant comes no more, comes again, or comes and
 * is refused while a worker still asks about that money.
 */
const payTogether = async (play: Play, { send, requests }: NewCreate): Promise<void> => {
  const { prng, provider, slowCallsMs } = play.world
  const goesOn = prng.pick(['no more', 'no more', 'refused', 'made'])
  // Money that is wrong, and not seen before the next look: it is remembered until then.
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

/**
 * The first attempt is made upstream and never heard of. After it come others, lost, slow, refused or dead, in the same
 * words and in others; and customers pay or decline the requests that they have left, while the next one runs, between
 * two, and when the payment is there, two at once, right and wrong.
 */
export const payAttempts: Operation = async (play) => {
  const { world } = play
  const { prng, provider, scheduler } = world
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
    const dies = how === 'dead' && { standsStill: { afterMs: prng.int(60, 800), forMs: 3_600_000 } }
    const sent = send(dies || {}, words)
    contest()
    // Soon, or just as it comes to its end.
    await passed(world, slowMs === undefined || prng.chance(0.5) ? prng.int(20, 800) : slowMs - prng.int(-100, 500))
    if (prng.chance(0.6)) customerActs(play, wanted.requests())
    // What was taken to be lost is often heard of again just when the next one is done.
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
