import { paymentIdForKey } from '../../../shared/ids.ts'
import { text } from '../../support/recount/books.ts'
import { createAs, http } from '../scenes/http.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { observeCreate } from '../watching/observations.ts'
import { type InvokeOptions, operate } from '../world/lambda.ts'
import { paymentRow } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { waitFor } from '../world/world.ts'
import { customerPays, payOne, wrongAmount } from './customers.ts'
import type { Play } from './play.ts'

const CHANNELS = [
  { method: 'virtual_account', channel_code: 'BCA' },
  { method: 'virtual_account', channel_code: 'BNI' },
  { method: 'ewallet', channel_code: 'OVO' },
  { method: 'ewallet', channel_code: 'DANA' },
  { method: 'ewallet', channel_code: 'SHOPEEPAY' },
  { method: 'qris' },
]

export async function sendCreate(
  play: Play,
  tenant: Tenant,
  key: string | undefined,
  body: string,
  options: InvokeOptions = {},
) {
  if (key !== undefined)
    play.created.set(paymentIdForKey(tenant.clientId, key), { tenant, key, body })
  const wasShown = key !== undefined && play.seen.paymentsOfKey.has(`${tenant.clientId} ${key}`)
  const reply = await createAs(play, tenant, key, body, options)
  count(play.world.tally, `create answered ${reply?.status ?? 'nothing'}`)
  if (reply?.text.includes('may still answer')) reportSituation(play.world, 'a push is held back')
  if (wasShown && [400, 422].includes(reply?.status ?? 0))
    play.world.problems.push(`${key} is refused although its payment was shown: ${reply?.text}`)
  if (key !== undefined && (reply === undefined || reply.status >= 500))
    play.unanswered.push({ tenant, key, body })
}

export async function create(play: Play) {
  const tenant = play.world.prng.pick(play.tenants)
  const key = play.world.prng.chance(0.85) ? `key-${play.keys++}` : undefined
  const body = bodyFor(play, tenant)
  const twins = key !== undefined && play.world.prng.chance(0.25) ? play.world.prng.int(2, 4) : 1
  await Promise.all(Array.from({ length: twins }, () => sendCreate(play, tenant, key, body)))
}

function bodyFor({ world }: Play, tenant: Tenant) {
  return JSON.stringify({
    ...world.prng.pick(CHANNELS),
    amount: world.prng.pick([1, 9_999, 100_000, 250_000, 1_234_567]),
    currency: 'IDR',
    customer: tenant.personal,
    ...(world.prng.chance(0.5) && { external_reference: `order-${world.prng.int(1, 9)}` }),
    ...(world.prng.chance(0.2) && { expires_in_seconds: world.prng.int(30, 7_200) }),
    ...(world.prng.chance(0.2) && {
      metadata: { order: world.prng.int(1, 9), big: '12345678901234567890' },
    }),
  })
}

/**
 * A merchant without an answer lists the payment of its key, which is that key's for ever. Then it
 * tries again.
 */
export async function retryCreate(play: Play) {
  const again = play.unanswered.shift()
  if (again === undefined) return create(play)
  const { tenant, key, body } = again
  const listed = await http(play, tenant, 'api-list-payments', { query: { idempotency_key: key } })
  const [payment] = (listed?.body['data'] ?? []) as readonly Record<string, unknown>[]
  if (listed && payment) observeCreate(play.seen, tenant, key, { ...listed, body: payment })
  count(play.world.tally, `asked by key: ${payment ? 'there' : 'not yet'}`)
  return sendCreate(play, tenant, key, play.world.prng.chance(0.2) ? bodyFor(play, tenant) : body)
}

export async function replayCreate(play: Play) {
  const tenant = play.world.prng.pick(play.tenants)
  if (play.keys === 0) return create(play)
  return sendCreate(
    play,
    tenant,
    `key-${play.world.prng.int(0, play.keys - 1)}`,
    bodyFor(play, tenant),
  )
}

/** The wallet that pushes to the customer's phone. */
const PUSH = { method: 'ewallet', channel_code: 'OVO' }

export function newCreate(play: Play, isPush = false, livesSeconds?: number) {
  const { world } = play
  const tenant = world.prng.pick(play.tenants)
  const key = `key-${play.keys++}`
  const paymentId = paymentIdForKey(tenant.clientId, key)
  const pk = `PAYMENT#${paymentId}`
  const drawn = JSON.parse(bodyFor(play, tenant)) as object
  const lives = livesSeconds === undefined ? {} : { expires_in_seconds: livesSeconds }
  const body = JSON.stringify({ ...drawn, ...(isPush && PUSH), ...lives })
  const row = () => paymentRow(world, paymentId) ?? {}
  return {
    tenant,
    paymentId,
    pk,
    body,
    row,
    send: (options: InvokeOptions = {}, words = body) =>
      sendCreate(play, tenant, key, words, options),
    /** Another merchant's requests use the same environments, and keep them awake for a while. */
    sendAnother: async () => {
      const other = `key-${play.keys++}`
      const otherId = paymentIdForKey(tenant.clientId, other)
      world.slowCallsMs.set(otherId, 2 * world.prng.int(500, 2_500))
      await sendCreate(play, tenant, other, bodyFor(play, tenant))
      world.slowCallsMs.delete(otherId)
    },
    otherWords: () => bodyFor(play, tenant),
    leaseEndMs: () => Date.parse(text(row(), 'lease_until')) || world.scheduler.nowMs(),
    requests: () => world.provider.findPaymentRequests(paymentId),
    /**
     * How long the provider takes for this payment's creates. If even, half of the time is the
     * request's way there.
     */
    slow: (ms: number | undefined) =>
      ms === undefined ? world.slowCallsMs.delete(paymentId) : world.slowCallsMs.set(paymentId, ms),
  }
}

export type NewCreate = ReturnType<typeof newCreate>

/**
 * When the last push of a payment may end: a minute from its claim, from the end of its call, or
 * from its lease.
 */
export function pushEndsMs({ row }: NewCreate) {
  const attempts = row()['provider_attempts'] as
    | readonly { startedAt: string; endedAt?: string }[]
    | undefined
  const last = attempts?.at(-1)
  if (last === undefined) return []
  const ends = [
    last.startedAt,
    last.endedAt ?? last.startedAt,
    last.endedAt ?? text(row(), 'lease_until'),
  ]
  return ends.map((at) => Date.parse(at) + 60_000).filter((ms) => !Number.isNaN(ms))
}

export const CREATE_FAULTS = [
  { fault: 'timeout_after_commit' },
  { fault: 'timeout_after_commit' },
  { fault: 'timeout' },
  { fault: 'http_503' },
  { fault: 'http_500' },
  { fault: 'refuse', value: 'INVALID_MERCHANT_SETTINGS' },
]

export async function createStubbornly(play: Play) {
  const { world, prng, provider } = play
  const wanted = newCreate(play)
  const { pk, slow } = wanted
  const body = prng.chance(0.4)
    ? JSON.stringify({ ...(JSON.parse(wanted.body) as object), ...PUSH })
    : wanted.body
  const sent: Promise<void>[] = []
  for (let left = prng.int(2, 7); left > 0; left--) {
    slow(undefined)
    const isSlow = prng.chance(0.3)
    if (isSlow) slow(prng.int(1_000, 25_000))
    else if (prng.chance(0.75))
      provider.orderFault({ target: 'create', ...prng.pick(CREATE_FAULTS) })
    const words = prng.pick([body, body, wanted.otherWords(), '{"method":'])
    // The attempt is frozen and continues beside another attempt, often after its lease has
    // expired.
    const freeze = prng.chance(isSlow ? 0.5 : 0.1)
      ? { afterMs: prng.int(5, 600), forMs: prng.pick([0, 40_000]) }
      : undefined
    if (prng.chance(0.15)) world.impaired.set(pk, { lost: prng.int(1, 4), delayMs: 0 })
    if (freeze) reportSituation(world, 'an attempt is frozen during its work')
    sent.push(wanted.send({ freeze }, left > 5 ? body : words))
    if (isSlow) {
      await waitFor(world, prng.int(50, 2_000))
      meanwhile(play, wanted)
    }
    if (prng.chance(0.6)) await sent.at(-1)
    await waitFor(world, untilNextMs(play, wanted))
    meanwhile(play, wanted)
  }
  slow(undefined)
  await Promise.all(sent)
  for (const request of wanted.requests())
    if (prng.chance(0.4)) payOne(play, request, { wrong: 0.2 })
}

function meanwhile(play: Play, { paymentId, requests }: NewCreate) {
  const { prng, provider } = play
  if (requests().length > 0 && prng.chance(0.4)) {
    const { payment_request_id: id, request_amount: asked } = prng.pick(requests())
    const amount = prng.chance(0.2) ? wrongAmount(play.world, asked) : asked
    customerPays(play, () => provider.simulatePayment(id, { amount }))
  }
  if (prng.chance(0.15)) void operate(play.world, 'refresh-payment', { payment_id: paymentId })
}

function untilNextMs({ prng, scheduler }: Play, wanted: NewCreate) {
  const ends = [wanted.leaseEndMs(), ...pushEndsMs(wanted)].filter((ms) => ms > scheduler.nowMs())
  if (ends.length === 0 || prng.chance(0.5))
    return prng.pick([prng.int(0, 60), prng.int(500, 5_000)])
  return Math.max(0, prng.pick(ends) - scheduler.nowMs() + prng.int(-60, 60))
}
