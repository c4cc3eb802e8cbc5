import { paymentIdForKey } from '../../../shared/ids.ts'
import { http } from '../scenes/http.ts'
import { meet } from '../sometimes/meet.ts'
import { observeCreate } from '../watching/observations.ts'
import type { HttpRequest, InvokeOptions } from '../world/lambda.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
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
