import { type Faults, NO_FAULTS } from './faults.ts'
import { drive } from './history.ts'
import type { HttpReply } from './lambda.ts'
import { type InvokeOptions, invoke, operate, request } from './lambda.ts'
import { observeCreate } from './observations.ts'
import type { Play } from './operations.ts'
import { isInsertOf, streamRecord } from './sim-table/stream-record.ts'
import type { TableChange } from './sim-table/table-view.ts'

/** Nothing happens by itself: no stream, no callback, no schedule. */
export const ALONE: Partial<Faults> = { streamLost: 1, callbackLost: 1, scheduleMissed: 1 }
export const alone = ({ world }: Play, more: Partial<Faults> = {}) => {
  world.faults = { ...NO_FAULTS, ...ALONE, ...more }
}

export const HOUR_MS = 3_600_000
export const pass = (play: Play, ms: number) => play.world.scheduler.runUntil(play.world.scheduler.nowMs() + ms)

export const VA = JSON.stringify({ method: 'virtual_account', channel_code: 'BNI', amount: 300_000, currency: 'IDR' })
export const QRIS = JSON.stringify({ method: 'qris', amount: 300_000, currency: 'IDR', expires_in_seconds: 600 })

export const tenantOf = (play: Play) => {
  const tenant = play.tenants[1]
  if (!tenant) throw new Error('the play has no second tenant')
  return tenant
}

export const create = async (play: Play, body: string, options: InvokeOptions = {}): Promise<HttpReply | undefined> => {
  const tenant = tenantOf(play)
  const key = 'flow-key'
  const headers = { authorization: `Bearer ${tenant.apiKey}`, 'idempotency-key': key }
  const reply = await request(play.world, 'api-create-payment', { route: 'POST /v1/payments', headers, body }, options)
  observeCreate(play.seen, tenant, key, reply)
  return reply
}

export const created = async (play: Play, body = VA): Promise<string> => {
  const reply = await drive(play.world, create(play, body))
  if (reply?.status !== 201) throw new Error(`the create failed: ${reply?.text ?? 'no answer'}`)
  return String(reply.body['id'])
}

export const requestOf = ({ world }: Play, paymentId: string) => {
  const [found] = world.provider.findPaymentRequests(paymentId)
  if (!found) throw new Error('the provider does not know the payment')
  return found
}

/** The customer pays; the provider's callback does not get through. */
export const paid = async (play: Play, amount?: number): Promise<string> => {
  alone(play)
  const id = await created(play)
  const { payment_request_id: requestId } = requestOf(play, id)
  play.world.provider.simulatePayment(requestId, amount === undefined ? {} : { amount })
  await pass(play, 1_000)
  return id
}

export const callback = (play: Play, paymentId: unknown, options: InvokeOptions) => {
  const upstream = requestOf(play, String(paymentId))
  const data = {
    payment_id: upstream.latest_payment_id,
    payment_request_id: upstream.payment_request_id,
    reference_id: upstream.reference_id,
  }
  return request(
    play.world,
    'receive-provider-callback',
    {
      route: 'POST /callbacks/xendit',
      headers: { 'x-callback-token': 'simulation-callback-token' },
      body: JSON.stringify({ event: 'payment.capture', data }),
    },
    options,
  )
}

/** A succeeded payment whose event nobody has fanned out yet. */
export const announced = async (play: Play): Promise<TableChange> => {
  let inserted: TableChange | undefined
  play.world.onChange.push((change) => {
    if (isInsertOf(change, 'EVENT#')) inserted = change
  })
  const id = await paid(play)
  await drive(play.world, callback(play, id, {}))
  if (!inserted) throw new Error('no event was written')
  return inserted
}

/** A delivery that waits in its queue, which nobody reads. */
export const scheduled = async (play: Play): Promise<object> => {
  const change = await announced(play)
  const { world } = play
  world.paused.add('webhooks')
  await drive(world, invoke(world, 'fan-out-events', { Records: [streamRecord(change)] }))
  const [message] = world.queues.webhooks.receive({ max: 1, nowMs: world.scheduler.nowMs() })
  if (!message) throw new Error('no delivery was sent')
  world.paused.delete('webhooks')
  return { Records: [{ messageId: message.messageId, body: message.body }] }
}

/** Funds that are old enough to be settled, with their actual fee. */
export const aged = async (play: Play): Promise<void> => {
  const id = await paid(play)
  await drive(play.world, callback(play, id, {}))
  await pass(play, 26 * HOUR_MS)
  await drive(play.world, invoke(play.world, 'sync-provider-transactions', {}))
}

export const settled = async (play: Play): Promise<string> => {
  await aged(play)
  const client = { operator: 'sim', client_id: tenantOf(play).clientId }
  const reply = await drive(play.world, operate(play.world, 'trigger-settlement', client))
  const [settlement] = (reply?.body['settlements'] ?? []) as { readonly id: string }[]
  if (!settlement) throw new Error(`nothing was settled: ${JSON.stringify(reply)}`)
  return settlement.id
}

export const OPERATOR = { operator: 'sim', notes: 'simulated' }

export const failed = async (play: Play): Promise<string> => {
  const settlement_id = await settled(play)
  await drive(play.world, operate(play.world, 'mark-settlement-failed', { ...OPERATOR, settlement_id }))
  return settlement_id
}
