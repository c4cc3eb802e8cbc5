import type { QueueName } from '../../../shared/queues.ts'
import { exists, update } from '../../../shared/table/step.ts'
import type { Play } from '../histories/operations.ts'
import { observeCreate } from '../watching/observations.ts'
import { drive } from '../world/drive.ts'
import { type Faults, NO_FAULTS } from '../world/faults.ts'
import { type HttpReply, type InvokeOptions, invoke, operate, request, requestAs } from '../world/lambda.ts'
import { type ReceivedMessage, sqsEvent } from '../world/sim-queue.ts'
import type { Tenant } from '../world/tenants.ts'
import { CALLBACK_TOKEN } from '../world/world.ts'

/** No callback and no schedule: but for messages nothing happens by itself. */
export const alone = ({ world }: Play, more: Partial<Faults> = {}): void => {
  world.faults = { ...NO_FAULTS, callbackLost: 1, scheduleMissed: 1, ...more }
}

const HOUR_MS = 3_600_000
export const pass = ({ world }: Play, ms: number): Promise<void> =>
  world.scheduler.runUntil(world.scheduler.nowMs() + ms)

const VA = JSON.stringify({ method: 'virtual_account', channel_code: 'BNI', amount: 300_000, currency: 'IDR' })
const QRIS = JSON.stringify({ method: 'qris', amount: 300_000, currency: 'IDR', expires_in_seconds: 600 })

const tenantOf = ({ tenants: [, tenant] }: Play): Tenant => {
  if (!tenant) throw new Error('the play has no second tenant')
  return tenant
}

export const forClient = (play: Play) => ({ operator: 'sim', client_id: tenantOf(play).clientId })
export const onSettlement = (settlement_id: unknown) => ({ operator: 'sim', notes: 'simulated', settlement_id })

export const create = async (
  play: Play,
  body = VA,
  options: InvokeOptions = {},
  key = 'flow-key',
): Promise<HttpReply | undefined> => {
  const tenant = tenantOf(play)
  const asked = { headers: { 'idempotency-key': key }, body }
  const reply = await requestAs(play.world, tenant, 'api-create-payment', asked, options)
  observeCreate(play.seen, tenant, key, reply)
  return reply
}

export const cancel = (play: Play, id: unknown, options: InvokeOptions = {}) =>
  requestAs(play.world, tenantOf(play), 'api-cancel-payment', { id: String(id) }, options)

export const created = async (play: Play, body = VA, key?: string): Promise<string> => {
  alone(play)
  const reply = await drive(play.world, create(play, body, {}, key))
  if (reply?.status !== 201) throw new Error(`the create failed: ${reply?.text ?? 'no answer'}`)
  return String(reply.body['id'])
}

/** A page that counts as more requests than the client may send in a second. */
export const listLong = (play: Play, options: InvokeOptions = {}) =>
  requestAs(play.world, tenantOf(play), 'api-list-payments', { query: { per_page: '100' } }, options)

const EXPIRED_MS = 601_000

/** A payment whose time is over, which was not noticed. In time, `before` happens to it. */
export const expired = async (play: Play, before = async (_id: string): Promise<unknown> => undefined) => {
  const id = await created(play, QRIS)
  await before(id)
  await pass(play, EXPIRED_MS)
  return id
}

const upstreamOf = ({ world }: Play, paymentId: string) => {
  const [found] = world.provider.findPaymentRequests(paymentId)
  if (!found) throw new Error('the provider does not know the payment')
  return found
}

/** The customer pays; the provider's callback does not get through. */
export const paid = async (play: Play, amount?: number, key?: string): Promise<string> => {
  const id = await created(play, VA, key)
  const { payment_request_id: requestId } = upstreamOf(play, id)
  play.world.provider.simulatePayment(requestId, amount === undefined ? {} : { amount })
  await pass(play, 1_000)
  return id
}

export const callback = (play: Play, paymentId: unknown, options: InvokeOptions = {}) => {
  const { latest_payment_id, payment_request_id, reference_id } = upstreamOf(play, String(paymentId))
  const data = { payment_id: latest_payment_id, payment_request_id, reference_id }
  const body = JSON.stringify({ event: 'payment.capture', data })
  const headers = { 'x-callback-token': CALLBACK_TOKEN }
  return request(play.world, 'receive-provider-callback', { headers, body }, options)
}

export const credited = async (play: Play, key?: string): Promise<void> => {
  const id = await paid(play, undefined, key)
  await drive(play.world, callback(play, id))
}

/** A credited payment that the provider voids. */
export const voided = async (play: Play): Promise<void> => {
  const id = await paid(play)
  await drive(play.world, callback(play, id))
  play.world.provider.reversePayment(upstreamOf(play, id).payment_request_id, { kind: 'voided' })
}

/** A credited payment whose money a dispute took, which is heard of, and gives again. */
export const disputeWon = async (play: Play): Promise<void> => {
  const id = await paid(play)
  await drive(play.world, callback(play, id))
  const take = (kind: string) => play.world.provider.reversePayment(upstreamOf(play, id).payment_request_id, { kind })
  take('chargeback')
  await pass(play, HOUR_MS)
  await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
  take('chargeback_reversal')
}

/** A credited payment of which no message has left. */
export const unsent = async (play: Play): Promise<void> => {
  const id = await paid(play)
  alone(play, { queueSendFails: 1 })
  await drive(play.world, callback(play, id))
  alone(play)
}

/** A delivery that waits in its queue, which no worker reads. */
export const scheduled = async (play: Play): Promise<object> => sqsEvent([await scheduledMessage(play)])

/** Deliveries whose next failure is their last, as workers are given them. */
export const atTheirLast = async (play: Play, ...keys: readonly string[]): Promise<readonly object[]> => {
  const { world } = play
  const first: object[] = []
  for (const key of keys) first.push(sqsEvent([await scheduledMessage(play, key)]))
  alone(play, { merchantFails: 1 })
  for (const event of first) await drive(world, invoke(world, 'deliver-webhook', event))
  // Of eight attempts the second to the seventh.
  await pass(play, (60 + 120 + 240 + 480 + 960 + 1_920 + 60) * 1_000)
  world.paused.add('webhooks')
  await pass(play, 3_840_000)
  const last = world.queues.webhooks.receive({ max: 10, nowMs: world.scheduler.nowMs() })
  // The merchant has two endpoints.
  if (last.length !== 2 * keys.length) throw new Error(`${last.length} deliveries are at their last attempt`)
  world.paused.delete('webhooks')
  return last.map((message) => sqsEvent([message]))
}

/** Several that were abandoned, of which the operators were told the first of each endpoint. */
export const alertsDue = async (play: Play): Promise<void> => {
  for (const event of await atTheirLast(play, 'first', 'second', 'third')) {
    await drive(play.world, invoke(play.world, 'deliver-webhook', event))
  }
  alone(play)
  await pass(play, 901_000)
}

/** The same, after its endpoint hung, as a worker of either lane is given it. */
export const scheduledToSlow = (slow: boolean) => async (play: Play) => {
  const message = await scheduledMessage(play)
  const body = JSON.parse(message.body) as { readonly client_id: string; readonly endpoint_id: string }
  const key = { pk: `ENDPOINTS#${body.client_id}`, sk: `ENDPOINT#${body.endpoint_id}` }
  play.world.table.requests.write(update(key, { set: { slowSince: '2026-11-02T03:00:00.000Z' } }, exists))
  return sqsEvent([{ ...message, body: JSON.stringify({ ...body, ...(slow && { slow }) }) }])
}

const scheduledMessage = async (play: Play, key?: string): Promise<ReceivedMessage> => {
  const { world } = play
  world.paused.add('webhooks')
  await credited(play, key)
  const [message] = world.queues.webhooks.receive({ max: 1, nowMs: world.scheduler.nowMs() })
  if (!message) throw new Error('no delivery was sent')
  world.paused.delete('webhooks')
  return message
}

/** A delivery that was given up, whose merchant asks for it again, and no worker runs. */
export const abandoned = async (play: Play): Promise<string> => {
  const [record] = ((await scheduled(play)) as { readonly Records: readonly { readonly body: string }[] }).Records
  const { delivery_id: id } = JSON.parse(record?.body ?? '') as { readonly delivery_id: string }
  const change = { set: { status: 'skipped' }, remove: ['nextAttemptAt', 'state', 'work', 'slot', 'dueAt'] }
  play.world.table.requests.write(update({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' }, change, exists))
  return id
}

export const redeliverOwn = (play: Play, id: unknown, options: InvokeOptions = {}) =>
  requestAs(play.world, tenantOf(play), 'api-redeliver-webhook', { id: String(id) }, options)

/** What is due of a kind, as it waits for its workers, which stand still. It is in so many slots; the first is given. */
export const handedOut =
  (queue: QueueName, prepare: (play: Play) => Promise<unknown>, slots = 1) =>
  async (play: Play) => {
    await prepare(play)
    const { world } = play
    world.paused.add(queue)
    await drive(world, invoke(world, 'check-due-work', {}))
    const messages = world.queues[queue].receive({ max: 10, nowMs: world.scheduler.nowMs() })
    if (messages.length !== slots) throw new Error(`${messages.length} slots were handed out`)
    world.paused.delete(queue)
    return sqsEvent(messages.slice(0, 1))
  }

/** A credited payment whose row the provider settles meanwhile. */
export const unposted = async (play: Play): Promise<void> => {
  await credited(play)
  await pass(play, 26 * HOUR_MS)
}

/** Funds that are posted and may be settled. */
export const aged = async (play: Play): Promise<void> => {
  await unposted(play)
  await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
}

/** More of them than one run sums. */
export const agedInNumbers = async (play: Play): Promise<void> => {
  for (const key of ['first', 'second', 'third']) await credited(play, key)
  await aged(play)
}

export const settled = async (play: Play): Promise<string> => {
  await aged(play)
  const reply = await drive(play.world, operate(play.world, 'trigger-settlement', forClient(play)))
  const [settlement] = (reply?.body['settlements'] ?? []) as { readonly id: string }[]
  if (!settlement) throw new Error(`nothing was settled: ${JSON.stringify(reply)}`)
  return settlement.id
}

/** A settlement that was audited a minute after its record. */
export const audited = async (play: Play): Promise<string> => {
  const id = await settled(play)
  await pass(play, 61_000)
  await drive(play.world, invoke(play.world, 'audit-client', auditOf({ settlement_id: id })))
  return id
}

export const auditOf = (body: object): object => sqsEvent([{ messageId: 'm', body: JSON.stringify(body) }])

export const failed = async (play: Play): Promise<string> => {
  const id = await settled(play)
  await drive(play.world, operate(play.world, 'mark-settlement-failed', onSettlement(id)))
  return id
}

export const recredited = async (play: Play): Promise<void> => {
  const id = await failed(play)
  await drive(play.world, operate(play.world, 'recredit-settlement', onSettlement(id)))
}
