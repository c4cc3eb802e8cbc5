import { paymentIdForKey } from '../../../shared/ids.ts'
import { text } from '../../support/recount/books.ts'
import { meet } from '../sometimes/meet.ts'
import { passed } from '../world/drive.ts'
import { operate } from '../world/lambda.ts'
import { bodyFor, sendCreate } from './creates.ts'
import { customerPays, wrongAmount } from './customers.ts'
import type { Play } from './operations.ts'

/** What the provider does with a create instead of what it is asked for. */
const ANSWERS = [
  { fault: 'timeout_after_commit' },
  { fault: 'timeout_after_commit' },
  { fault: 'timeout' },
  { fault: 'http_503' },
  { fault: 'http_500' },
  { fault: 'refuse', value: 'CHANNEL_NOT_ACTIVATED' },
]

const UNREADABLE = '{"method":'
/** Of the wallet that pushes to the customer's phone. */
const PUSH = { method: 'ewallet', channel_code: 'OVO' }
/** After the end of a call, a push can be answered no more. */
const PUSH_MS = 60_000

type Attempt = { readonly startedAt: string; readonly endedAt?: string }

/** The moment a merchant comes again: at once, in seconds, or as a lease or a push comes to its end. */
const untilNextMs = ({ world }: Play, paymentId: string): number => {
  const { prng, scheduler } = world
  const row = world.table.item({ pk: `PAYMENT#${paymentId}`, sk: 'PAYMENT' })
  const last = (row?.['provider_attempts'] as readonly Attempt[] | undefined)?.at(-1)
  const lease = text(row ?? {}, 'lease_until')
  const ends = [
    ...(lease === '' ? [] : [Date.parse(lease), Date.parse(lease) + PUSH_MS]),
    ...(last === undefined
      ? []
      : [last.startedAt, last.endedAt ?? last.startedAt].map((at) => Date.parse(at) + PUSH_MS)),
  ].filter((ms) => ms > scheduler.nowMs())
  const near = prng.int(-60, 60)
  const [soon, later] = [prng.int(0, 60), prng.int(500, 5_000)]
  return ends.length > 0 && prng.chance(0.5)
    ? Math.max(0, prng.pick(ends) - scheduler.nowMs() + near)
    : prng.pick([soon, later])
}

/** What others do about the payment while it is created. */
const meanwhile = (play: Play, paymentId: string): void => {
  const { prng, provider } = play.world
  const requests = provider.findPaymentRequests(paymentId)
  if (requests.length > 0 && prng.chance(0.4)) {
    const picked = prng.pick(requests)
    const { payment_request_id: id } = picked
    const { request_amount: asked } = picked
    const amount = prng.chance(0.2) ? wrongAmount(play.world, asked) : asked
    customerPays(play, () => provider.simulatePayment(id, { amount }))
  }
  if (prng.chance(0.15)) void operate(play.world, 'refresh-payment', { payment_id: paymentId })
}

/**
 * A merchant that does not give up: the provider fails its create in one way after the other, and it comes again at the
 * very moments at which a lease or a push ends, with other words, with words that cannot be read, twice at once, and
 * while its customer pays what the attempts before have left.
 */
export const createStubbornly = async (play: Play): Promise<void> => {
  const { world } = play
  const { prng, provider, scheduler } = world
  const tenant = prng.pick(play.tenants)
  const key = `key-${play.keys++}`
  const paymentId = paymentIdForKey(tenant.clientId, key)
  const drawn = bodyFor(play, tenant)
  const body = prng.chance(0.4) ? JSON.stringify({ ...(JSON.parse(drawn) as object), ...PUSH }) : drawn
  const sent: Promise<void>[] = []
  for (let left = prng.int(2, 7); left > 0; left--) {
    world.slowCallsMs.delete(paymentId)
    const isSlow = prng.chance(0.3)
    if (isSlow) world.slowCallsMs.set(paymentId, prng.int(1_000, 25_000))
    else if (prng.chance(0.75)) provider.orderFault({ target: 'create', ...prng.pick(ANSWERS) })
    const words = prng.pick([body, body, bodyFor(play, tenant), UNREADABLE])
    // It stands still in the midst of its work, and goes on beside another try, often after the end of its lease.
    const standsStill = prng.chance(isSlow ? 0.5 : 0.1)
      ? { afterMs: prng.int(5, 600), forMs: prng.pick([0, 40_000]) }
      : undefined
    if (prng.chance(0.15)) world.unansweredUntilMs.set(`PAYMENT#${paymentId}`, scheduler.nowMs() + prng.int(500, 8_000))
    if (standsStill) meet(world, 'an attempt stands still in the midst')
    sent.push(sendCreate(play, tenant, key, left > 5 ? body : words, { standsStill }))
    if (isSlow) {
      await passed(world, prng.int(50, 2_000))
      meanwhile(play, paymentId)
    }
    if (prng.chance(0.6)) await sent.at(-1)
    await passed(world, untilNextMs(play, paymentId))
    meanwhile(play, paymentId)
  }
  world.slowCallsMs.delete(paymentId)
  await Promise.all(sent)
}
