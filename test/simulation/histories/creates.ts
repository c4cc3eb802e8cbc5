import { paymentIdForKey } from '../../../shared/ids.ts'
import { text } from '../../support/recount/books.ts'
import { http } from '../scenes/http.ts'
import { meet } from '../sometimes/situations.ts'
import { observeCreate } from '../watching/observations.ts'
import { passed } from '../world/drive.ts'
import { type HttpRequest, type InvokeOptions, operate } from '../world/lambda.ts'
import { paymentRow } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { customerPays, wrongAmount } from './customers.ts'
import { UNPAID } from './flood.ts'
import type { Operation, Play } from './operations.ts'

const CHANNELS = [
  { method: 'virtual_account', channel_code: 'BCA' },
  { method: 'virtual_account', channel_code: 'BNI' },
  { method: 'ewallet', channel_code: 'OVO' },
  { method: 'ewallet', channel_code: 'DANA' },
  { method: 'ewallet', channel_code: 'SHOPEEPAY' },
  { method: 'qris' },
] as const

export const bodyFor = ({ world }: Play, tenant: Tenant): string =>
  JSON.stringify({
    ...world.prng.pick(CHANNELS),
    amount: world.prng.pick([1, 9_999, 100_000, 250_000, 1_234_567]),
    currency: 'IDR',
    customer: tenant.personal,
    ...(world.prng.chance(0.5) && { external_reference: `order-${world.prng.int(1, 9)}` }),
    ...(world.prng.chance(0.2) && { expires_in_seconds: world.prng.int(30, 7_200) }),
    ...(world.prng.chance(0.2) && { metadata: { order: world.prng.int(1, 9), big: '12345678901234567890' } }),
  })

export const sendCreate = async (
  play: Play,
  tenant: Tenant,
  key: string | undefined,
  body: string,
  options: InvokeOptions = {},
): Promise<void> => {
  if (key !== undefined) play.created.set(paymentIdForKey(tenant.clientId, key), { tenant, key, body })
  const wasShown = key !== undefined && play.seen.paymentsOfKey.has(`${tenant.clientId} ${key}`)
  const headers: HttpRequest['headers'] = key === undefined ? {} : { 'idempotency-key': key }
  const reply = await http(play, tenant, 'api-create-payment', { headers, body }, options)
  observeCreate(play.seen, tenant, key, reply)
  count(play.world.tally, `create answered ${reply?.status ?? 'nothing'}`)
  if (reply?.text.includes('may still be answered')) meet(play.world, 'a push is held back')
  if (wasShown && [400, 422].includes(reply?.status ?? 0))
    play.seen.problems.push(`${key} is refused although its payment was shown: ${reply?.text}`)
  if (key !== undefined && (reply === undefined || reply.status >= 500)) play.unanswered.push({ tenant, key, body })
}

export const create: Operation = async (play) => {
  const tenant = play.world.prng.pick(play.tenants)
  const key = play.world.prng.chance(0.85) ? `key-${play.keys++}` : undefined
  const body = bodyFor(play, tenant)
  const twins = key !== undefined && play.world.prng.chance(0.25) ? play.world.prng.int(2, 4) : 1
  await Promise.all(Array.from({ length: twins }, () => sendCreate(play, tenant, key, body)))
}

/** Whether the create has made it: what is shown is the payment of the key, for ever. */
const askByKey = async (play: Play, { tenant, key }: Play['unanswered'][number]): Promise<void> => {
  const listed = await http(play, tenant, 'api-list-payments', { query: { idempotency_key: key } })
  const [payment] = (listed?.body['data'] ?? []) as readonly Record<string, unknown>[]
  if (listed && payment) observeCreate(play.seen, tenant, key, { ...listed, body: payment })
  count(play.world.tally, `asked by key: ${payment ? 'there' : 'not yet'}`)
}

export const retryCreate: Operation = async (play) => {
  const again = play.unanswered.shift()
  if (again === undefined) return create(play)
  await askByKey(play, again)
  const body = play.world.prng.chance(0.2) ? bodyFor(play, again.tenant) : again.body
  return sendCreate(play, again.tenant, again.key, body)
}

export const replayCreate: Operation = async (play) => {
  const tenant = play.world.prng.pick(play.tenants)
  if (play.keys === 0) return create(play)
  return sendCreate(play, tenant, `key-${play.world.prng.int(0, play.keys - 1)}`, bodyFor(play, tenant))
}

/** A create is made twice, because its answer was lost, and a customer pays the first request of the two. */
export const payLostCreate = async (play: Play): Promise<void> => {
  const { world } = play
  const tenant = world.prng.pick(play.tenants)
  const key = `key-${play.keys++}`
  world.provider.orderFault({ target: 'create', fault: 'timeout_after_commit' })
  const asked = { headers: { 'idempotency-key': key }, body: JSON.stringify(UNPAID) }
  for (let tried = 0; tried < 2; tried++) {
    observeCreate(play.seen, tenant, key, await http(play, tenant, 'api-create-payment', asked))
  }
  const requests = world.provider.findPaymentRequests(paymentIdForKey(tenant.clientId, key))
  const [first] = requests
  if (first && requests.length > 1) customerPays(play, () => world.provider.simulatePayment(first.payment_request_id))
}

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
const untilNextMs = ({ world, prng, scheduler }: Play, paymentId: string): number => {
  const row = paymentRow(world, paymentId)
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
  const { prng, provider } = play
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

/** A merchant that does not give up: its create fails in every way, and it comes again as a lease or a push ends. */
export const createStubbornly = async (play: Play): Promise<void> => {
  const { world, prng, provider, scheduler } = play
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
