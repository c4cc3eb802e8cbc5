import { MINUTE_MS, SECOND_MS } from '../../../shared/time.ts'
import { text } from '../../support/recount/books.ts'
import { http } from '../scenes/http.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { operate } from '../world/lambda.ts'
import { waitFor, waitUntil } from '../world/world.ts'
import { CREATE_FAULTS, type NewCreate, newCreate, pushEndsMs } from './creates.ts'
import { customerActs, payOne } from './customers.ts'
import type { Play } from './play.ts'

/**
 * An attempt is frozen during its call to the provider, and continues beside the attempt that took
 * over, or alone.
 */
export async function overtakeCreate(play: Play) {
  const { world, prng, provider } = play
  const isAlone = prng.chance(0.3)
  const livesSeconds = prng.chance(isAlone ? 0.6 : 0.2) ? prng.int(30, 34) : undefined
  const wanted = newCreate(play, !isAlone && prng.chance(0.3), livesSeconds)
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
    wanted.slow(
      isImpaired || prng.chance(0.5) ? prng.int(isImpaired ? 6_000 : 1_500, 9_000) : undefined,
    )
    begun.push(send())
    await waitUntil(world, thawsMs + prng.int(20, 1_500))
  }
  if (isImpaired) world.impaired.set(pk, { lost: 4, delayMs: 0 })
  if (prng.chance(0.3))
    world.contested.set(pk, { untilMs: world.scheduler.nowMs() + 3 * SECOND_MS })
  if (prng.chance(0.4)) {
    // A worker that gets its callback then needs seconds to read its request.
    const [request] = wanted.requests()
    world.slowCallsMs.set(
      `/v3/payment_requests/${request?.payment_request_id}`,
      2 * prng.int(700, 1_900),
    )
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

const AROUND_MS = [-20_000, -3_000, -500, -300, 0, 0, 0, 500, 3_000, 30_000]

export async function actNearExpiry(play: Play) {
  const { world, prng, scheduler } = play
  const isPush = prng.chance(0.2)
  const livesSeconds = prng.int(30, 70)
  if (prng.chance(0.5)) {
    const lookMs =
      Math.ceil((scheduler.nowMs() + (livesSeconds + 1) * SECOND_MS) / MINUTE_MS) * MINUTE_MS
    await waitUntil(world, lookMs - livesSeconds * SECOND_MS - prng.int(50, 800))
  }
  const wanted = newCreate(play, isPush, isPush ? undefined : livesSeconds)
  await wanted.send()
  const expiresMs = Date.parse(text(wanted.row(), 'expires_at'))
  if (wanted.row()['status'] !== 'pending' || !(expiresMs > scheduler.nowMs())) return
  const { cancel, refresh, pay, acts, rivals } = actsOf(play, wanted)
  const requestId = text(wanted.row(), 'payment_request_id')
  if (prng.chance(0.6))
    world.contested.set(wanted.pk, {
      untilMs: expiresMs + 90 * SECOND_MS,
      rival: rivalOf(play, rivals),
    })
  if (prng.chance(0.5)) world.slowCallsMs.set(requestId, 2 * prng.int(300, 1_900))
  const begun: unknown[] = []
  const at = Array.from({ length: prng.int(2, 6) }, () => prng.pick(AROUND_MS))
  for (const aboutMs of at.toSorted((one, other) => one - other)) {
    await waitUntil(world, expiresMs + aboutMs + prng.int(-100, 100))
    if (prng.chance(0.3)) fails(play, 'cancel')
    begun.push(prng.pick(acts)())
  }
  await Promise.all(begun)
  await waitFor(world, 150 * SECOND_MS)
  world.slowCallsMs.delete(requestId)
  if (prng.chance(0.5)) await refresh()
  if (prng.chance(0.3)) pay({ late: 1, unannounced: 0.2 })
  if (prng.chance(0.3)) await cancel()
}

function actsOf(play: Play, { paymentId: id, tenant, requests }: NewCreate) {
  const { world, prng, provider } = play
  const cancel = () => http(play, tenant, 'api-cancel-payment', { id })
  const refresh = () => operate(world, 'refresh-payment', { payment_id: id })
  const pay = (how: Parameters<typeof payOne>[2]) => payOne(play, requests().at(-1), how)
  const severalActors = () => {
    if (prng.chance(0.6)) pay({ unannounced: 0.3 })
    return Promise.all(
      [refresh, refresh, cancel, cancel].filter(() => prng.chance(0.6)).map((act) => act()),
    )
  }
  const cancelAcross = async () => {
    const first = cancel()
    await waitFor(play.world, prng.int(100, 900))
    await Promise.all([first, cancel()])
  }
  const cancelUnanswered = () => {
    provider.orderFault({ target: 'cancel', fault: 'timeout_after_commit' })
    return cancel()
  }
  const payLate = () => pay({ unannounced: 0.6, late: 0.5, unseen: 0.3 })
  const failsLater = (target: 'cancel' | 'get') => () => fails(play, target)
  const once = [cancel, refresh, payLate, failsLater('get')]
  const twice = [cancelAcross, cancelUnanswered, severalActors, failsLater('cancel')]
  const payAtOnce = () => pay({ unannounced: 0, unseen: 0 })
  return { cancel, refresh, pay, acts: [...once, ...twice, ...twice], rivals: [cancel, payAtOnce] }
}

const CANCELS = ['timeout_after_commit', 'timeout_after_commit', 'timeout', 'http_503', 'http_500']
const QUESTIONS = ['timeout', 'http_503']

function fails({ world }: Play, target: 'cancel' | 'get') {
  return world.provider.orderFault({
    target,
    fault: world.prng.pick(target === 'cancel' ? CANCELS : QUESTIONS),
  })
}

const MAX_RIVALS = 12

function rivalOf({ world }: Play, acts: readonly (() => unknown)[]) {
  let left = MAX_RIVALS
  let isUnderWay = false
  return async () => {
    if (isUnderWay || left-- <= 0) return
    isUnderWay = true
    await world.prng.pick(acts)()
    isUnderWay = false
  }
}

const SILENCES = [
  { target: 'transactions', fault: 'http_503' },
  { target: 'transactions', fault: 'timeout' },
  { target: 'get', fault: 'http_503' },
  { target: 'get', fault: 'timeout' },
]

/**
 * A push is slow, lost, or its sender died; the customer pays or declines, and the merchant asks
 * for another push.
 */
export async function pushAgain(play: Play) {
  const { world, prng, provider } = play
  const wanted = newCreate(play, true)
  const { send, slow } = wanted
  for (let left = prng.int(2, 4); left > 0; left--) {
    const how = prng.pick(['lost', 'on its way', 'dead', 'dead', 'thawed'])
    if (how === 'lost') provider.orderFault({ target: 'create', fault: 'timeout_after_commit' })
    slow(how === 'lost' ? undefined : 2 * prng.int(how === 'on its way' ? 6_000 : 500, 11_000))
    const forMs = how === 'thawed' ? 30_500 : 3_600_000
    // The freeze may come while its claim is in flight.
    if (how === 'thawed')
      world.contested.set(wanted.pk, { untilMs: world.scheduler.nowMs() + 1_000 })
    const isStill = how === 'dead' || how === 'thawed'
    await send(isStill ? { freeze: { afterMs: prng.int(5, 600), forMs, withClock: true } } : {})
    slow(undefined)
    if (how === 'thawed') {
      await waitUntil(world, wanted.leaseEndMs() + prng.int(600, 2_000))
      await wanted.sendAnother()
    }
    if (prng.chance(0.6)) {
      await waitFor(world, prng.int(100, 20_000))
      customerActs(play, wanted.requests(), { unannounced: 0.9, unseen: 0.3, wrong: 0.25 })
    }
    const ends = pushEndsMs(wanted)
    if (ends.length === 0 || prng.chance(0.15)) await waitFor(world, prng.int(50, 2_000))
    else await waitUntil(world, prng.pick(ends) + prng.int(0, 3_000))
    if (prng.chance(0.4))
      payOne(play, wanted.requests().at(-1), { unannounced: 0.9, late: 0.9, unseen: 0.7 })
    const last = prng.chance(0.15) ? wanted.requests().at(-1) : undefined
    // The provider books a pending row of another payment for the same reference.
    if (last) {
      const row = { reference_id: last.reference_id, amount: last.request_amount }
      const product_id = `py-${world.scenePrng.uuid()}`
      provider.bookTransaction({ type: 'PAYMENT', status: 'PENDING', ...row, product_id })
    }
    if (prng.chance(0.35)) provider.orderFault(prng.pick(SILENCES))
  }
  await send()
}
