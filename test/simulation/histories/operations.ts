import { whole } from '../../support/books.ts'
import { meet } from '../sometimes/meet.ts'
import { type Observations, observeCreate } from '../watching/observations.ts'
import { differences } from '../watching/read-back.ts'
import { type HttpRequest, operate, operateAsKnown } from '../world/lambda.ts'
import { mayLookUp } from '../world/restrictions.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import type { World } from '../world/world.ts'
import { changeEndpoints } from './change-endpoints.ts'
import { changeKeys } from './change-keys.ts'
import { customerPays, decline, pay } from './customers.ts'
import type { EventPoller } from './event-poller.ts'
import { growClient } from './grow-client.ts'
import { http } from './http.ts'
import { payLostCreate } from './lost-create.ts'
import { redeliverOwn } from './own-deliveries.ts'
import { lookAtBooks } from './watch-books.ts'

export type Play = {
  readonly world: World
  readonly tenants: Tenant[]
  readonly seen: Observations
  /** Creates that were not answered with a payment: merchants try them again. */
  readonly unanswered: { readonly tenant: Tenant; readonly key: string; readonly body: string }[]
  /** What is wrong once everything rests, from whoever has watched. */
  readonly restProblems: readonly (() => readonly string[])[]
  keys: number
  /** Who follows their events, by client. */
  readonly pollers: Map<string, EventPoller>
}

const OPERATOR = { operator: 'sim' }

export type Operation = (play: Play) => Promise<void>

const CHANNELS = [
  { method: 'virtual_account', channel_code: 'BCA' },
  { method: 'virtual_account', channel_code: 'BNI' },
  { method: 'ewallet', channel_code: 'OVO' },
  { method: 'ewallet', channel_code: 'DANA' },
  { method: 'ewallet', channel_code: 'SHOPEEPAY' },
  { method: 'qris' },
] as const

const bodyFor = ({ world }: Play, tenant: Tenant): string =>
  JSON.stringify({
    ...world.prng.pick(CHANNELS),
    amount: world.prng.pick([1, 9_999, 100_000, 250_000, 1_234_567]),
    currency: 'IDR',
    customer: tenant.personal,
    ...(world.prng.chance(0.5) && { external_reference: `order-${world.prng.int(1, 9)}` }),
    ...(world.prng.chance(0.2) && { expires_in_seconds: world.prng.int(30, 7_200) }),
    ...(world.prng.chance(0.2) && { metadata: { order: world.prng.int(1, 9), big: '12345678901234567890' } }),
  })

const sendCreate = async (play: Play, tenant: Tenant, key: string | undefined, body: string): Promise<void> => {
  const headers: HttpRequest['headers'] = key === undefined ? {} : { 'idempotency-key': key }
  const reply = await http(play, tenant, 'api-create-payment', { headers, body })
  observeCreate(play.seen, tenant, key, reply)
  count(play.world.tally, `create answered ${reply?.status ?? 'nothing'}`)
  if (key !== undefined && (reply === undefined || reply.status >= 500)) play.unanswered.push({ tenant, key, body })
}

const create: Operation = async (play) => {
  const tenant = play.world.prng.pick(play.tenants)
  const key = play.world.prng.chance(0.85) ? `key-${play.keys++}` : undefined
  const body = bodyFor(play, tenant)
  const twins = key !== undefined && play.world.prng.chance(0.25) ? play.world.prng.int(2, 4) : 1
  await Promise.all(Array.from({ length: twins }, () => sendCreate(play, tenant, key, body)))
}

/** Whether the create has made it: what is shown is the payment of the key, for ever. */
const askByKey = async (play: Play, { tenant, key }: Play['unanswered'][number]): Promise<void> => {
  if (!mayLookUp(play.world)) return
  const listed = await http(play, tenant, 'api-list-payments', { query: { idempotency_key: key } })
  const [payment] = (listed?.body['data'] ?? []) as readonly Record<string, unknown>[]
  if (listed && payment) observeCreate(play.seen, tenant, key, { ...listed, body: payment })
  count(play.world.tally, `asked by key: ${payment ? 'there' : 'not yet'}`)
}

const retryCreate: Operation = async (play) => {
  const again = play.unanswered.shift()
  if (again === undefined) return create(play)
  await askByKey(play, again)
  const body = play.world.prng.chance(0.2) ? bodyFor(play, again.tenant) : again.body
  return sendCreate(play, again.tenant, again.key, body)
}

const replayCreate: Operation = async (play) => {
  const tenant = play.world.prng.pick(play.tenants)
  if (play.keys === 0) return create(play)
  return sendCreate(play, tenant, `key-${play.world.prng.int(0, play.keys - 1)}`, bodyFor(play, tenant))
}

const knownPayment = (play: Play) => {
  const tenant = play.world.prng.pick(play.tenants)
  const ids = [...(play.seen.known.get(tenant.clientId) ?? [])]
  return ids.length === 0 ? undefined : { tenant, id: play.world.prng.pick(ids) }
}

const cancel: Operation = async (play) => {
  const target = knownPayment(play)
  if (target) await http(play, target.tenant, 'api-cancel-payment', { id: target.id })
}

/** Whoever has been shown a payment finds it by its reference, at any moment, beside its own others of that reference. */
const askByReference = async (play: Play, tenant: Tenant, id: string, reference: unknown): Promise<void> => {
  if (typeof reference !== 'string' || play.world.unreferenced.has(id) || !mayLookUp(play.world)) return
  const query = { external_reference: reference, per_page: '100' }
  const reply = await http(play, tenant, 'api-list-payments', { query })
  if (reply?.status !== 200) return
  const shown = reply.body['data'] as readonly Readonly<Record<string, unknown>>[]
  count(play.world.tally, 'asked by reference')
  if (!shown.some((payment) => payment['id'] === id)) play.seen.problems.push(`${id} is not found by its reference`)
  if (shown.some((one) => one['client_id'] !== tenant.clientId || one['external_reference'] !== reference))
    play.seen.problems.push(`${tenant.clientId} was shown by ${reference} what is not meant`)
}

const read: Operation = async (play) => {
  const target = knownPayment(play)
  if (!target) return
  const stored = () => play.world.table.item({ pk: `PAYMENT#${target.id}`, sk: 'PAYMENT' })
  const before = stored()
  const reply = await http(play, target.tenant, 'api-get-payment', { id: target.id })
  // What changed while it was read may be shown either way.
  if (reply?.status === 200 && before && before === stored())
    play.seen.problems.push(...differences('payment', reply.body, whole(before)))
  await http(play, target.tenant, 'api-list-payments', { query: { per_page: '5' } })
  await askByReference(play, target.tenant, target.id, before?.['external_reference'])
  await http(play, target.tenant, 'api-get-balance')
}

/** Another tenant's payment answers exactly as an absent one. */
const trespass: Operation = async (play) => {
  const target = knownPayment(play)
  const stranger = play.tenants.find(({ clientId }) => clientId !== target?.tenant.clientId)
  if (!target || !stranger) return
  const reply = await http(play, stranger, 'api-get-payment', { id: target.id })
  if (reply?.status === 200) play.seen.problems.push(`${stranger.clientId} was shown ${target.id}`)
}

/** Everybody wants something of one payment at the same moment. */
const race: Operation = async (play) => {
  const target = knownPayment(play)
  if (!target) return create(play)
  const { world } = play
  const upstream = world.provider.findPaymentRequests(target.id).at(-1)
  const jitter = () => new Promise<void>((resolve) => void world.scheduler.after(world.prng.int(0, 40), resolve))
  const customer = async () => {
    await jitter()
    if (upstream) customerPays(play, () => world.provider.simulatePayment(upstream.payment_request_id))
  }
  const merchant = async () => {
    await jitter()
    await http(play, target.tenant, 'api-cancel-payment', { id: target.id })
  }
  const operator = async () => {
    await jitter()
    await operate(world, 'refresh-payment', { ...OPERATOR, payment_id: target.id })
  }
  const all = [customer, merchant, operator, operator, merchant, customer]
  await Promise.all(all.filter(() => world.prng.chance(0.6)).map((actor) => actor()))
}

export const settle: Operation = async ({ world, tenants }) => {
  await operate(world, 'trigger-settlement', { ...OPERATOR, client_id: world.prng.pick(tenants).clientId })
}

export const payOut: Operation = async ({ world }) => {
  const listed = await operate(world, 'list-settlements', { status: 'recorded' })
  const recorded = (listed?.body['data'] ?? []) as { readonly id: string }[]
  if (recorded.length === 0) return
  const settlement = { ...OPERATOR, settlement_id: world.prng.pick(recorded).id }
  if (world.prng.chance(0.6)) {
    const fieldError = (reply: Awaited<ReturnType<typeof operate>>, name: string): unknown =>
      Object(reply?.body['field_errors'])[name]
    const markPaid = (confirmed: object) =>
      operateAsKnown(world, 'mark-settlement-paid', { ...settlement, confirm_unfunded: true, ...confirmed })
    let confirmed = {}
    let paid = await markPaid(confirmed)
    if (fieldError(paid, 'confirm_new_bank') !== undefined) {
      meet(world, 'a payout is stopped by new bank details')
      confirmed = { confirm_new_bank: true }
      paid = await markPaid(confirmed)
    }
    const [needed] = /\d+/.exec(String(fieldError(paid, 'confirm_reversed'))) ?? []
    if (needed === undefined) return
    meet(world, 'a payout is stopped by money that went back')
    await markPaid({ ...confirmed, confirm_reversed: Number(needed) })
  } else {
    await operate(world, 'mark-settlement-failed', { ...settlement, notes: 'the bank refused it' })
    if (world.prng.chance(0.7)) await operate(world, 'recredit-settlement', { ...settlement, notes: 'again' })
  }
}

const refresh: Operation = async (play) => {
  const target = knownPayment(play)
  if (target) await operate(play.world, 'refresh-payment', { ...OPERATOR, payment_id: target.id })
}

const redeliver: Operation = async ({ world, tenants }) => {
  const tenant = world.prng.pick(tenants)
  const endpoint = tenant.endpoints[0]
  if (!endpoint) return
  const since = new Date(world.scheduler.nowMs() - 86_400_000).toISOString()
  const which = { client_id: tenant.clientId, endpoint_id: endpoint.endpointId, since }
  await operate(world, 'redeliver', { ...OPERATOR, ...which })
}

/** How likely each operation is, as weights. */
const OPERATIONS: readonly (readonly [number, Operation])[] = [
  [24, create],
  [10, retryCreate],
  [4, replayCreate],
  [26, pay],
  [3, decline],
  [8, cancel],
  [6, read],
  [2, trespass],
  [4, settle],
  [4, payOut],
  [3, refresh],
  [2, redeliver],
  [2, redeliverOwn],
  [10, race],
  [2, growClient],
  [2, lookAtBooks],
  [6, changeEndpoints],
  [5, changeKeys],
  [2, payLostCreate],
]

const TOTAL = OPERATIONS.reduce((sum, [weight]) => sum + weight, 0)

export const drawOperation = (world: World): Operation => {
  let at = world.prng.next() * TOTAL
  for (const [weight, operation] of OPERATIONS) {
    at -= weight
    if (at < 0) return operation
  }
  return create
}
