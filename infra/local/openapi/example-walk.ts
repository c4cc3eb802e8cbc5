import * as v from 'valibot'
import { OPT_IN_EVENT_TYPES } from '../../../shared/event/event.ts'
import type { LocalCaller } from '../local-caller.ts'
import { eventually } from '../process/eventually.ts'
import { exampleBank } from '../seed-demo-client.ts'
import type { Json } from './json-schema-of.ts'
import type { RecordedAnswer, Walk, WalkResult } from './walk.ts'
import { walkPayout } from './walk-payout.ts'

const HOUR = 3_600

const PAYER = { name: 'Sari Dewi', email: 'sari@shop.example', phone: '+6281234567890' }
const VIRTUAL_ACCOUNT = {
  method: 'virtual_account',
  channel_code: 'BCA',
  amount: 150_000,
  currency: 'IDR',
  external_reference: 'order-1042',
  customer: PAYER,
  description: 'Two bags of coffee',
  metadata: { basket: ['arabica', 'robusta'] },
}
const QRIS = { method: 'qris', amount: 50_000, currency: 'IDR' }
const WALLET = { method: 'ewallet', channel_code: 'DANA', amount: 75_000, currency: 'IDR' }
const PUSH = { ...WALLET, channel_code: 'OVO', customer: { phone: PAYER.phone } }

const Deliveries = v.object({
  data: v.array(v.object({ id: v.string(), event_id: v.string(), endpoint_id: v.string() })),
})

/** Records every kind of answer that merchants can get. */
export async function exampleWalk(caller: LocalCaller): Promise<WalkResult> {
  const merchant = { name: 'Kopi Sari', bank: exampleBank('PT Kopi Sari') }
  const eventTypes = ['*', ...OPT_IN_EVENT_TYPES]
  const { clientId, endpointId, key } = await caller.merchant(merchant, eventTypes)
  const answers: RecordedAnswer[] = []
  const addAnswer: Walk['addAnswer'] = (answer, name, summary) =>
    answers.push({ ...answer, name, summary })
  const record: Walk['record'] = async (operation, name, summary, input = {}) => {
    const answer = await caller.call(operation, { key, ...input })
    addAnswer(answer, name, summary)
    return answer.body
  }
  const walk = { caller, clientId, key, record, addAnswer }
  await caller.act('send-test-event', { client_id: clientId, endpoint_id: endpointId })
  const { paymentId, webhooks } = await walkPayments(walk)
  const testWebhook = await caller.webhook('gateway.test')
  await walkDeliveries(walk)
  await walkRefusals(walk)
  await walkFailures(walk)
  const settlementWebhooks = await walkPayout(walk, QRIS)
  const laterWebhooks = await walkMoneyBack(walk, paymentId)
  return { answers, webhooks: [testWebhook, ...webhooks, ...settlementWebhooks, ...laterWebhooks] }
}

async function walkPayments({ caller, record }: Walk) {
  const create = (name: string, summary: string, body: Json, idempotencyKey: string) =>
    record('api-create-payment', name, summary, { body, idempotencyKey })
  const payment = await create(
    'virtual_account',
    'By virtual account',
    VIRTUAL_ACCOUNT,
    'order-1042',
  )
  await create('replayed', 'The same key again', VIRTUAL_ACCOUNT, 'order-1042')
  const qris = await create('qris', 'By QRIS', QRIS, 'order-1043')
  const wallet = await create('wallet', 'By a wallet with a page', WALLET, 'order-1044')
  const push = await create('push', 'By a wallet that asks on the phone', PUSH, 'order-1045')
  const id = String(payment['id'])
  await record('api-get-payment', 'pending', 'Not paid yet', { id })
  const list = (name: string, summary: string, query: string) =>
    record('api-list-payments', name, summary, { query })
  await list(
    'pending',
    'Payments that are not paid yet, two on each page',
    'status=pending&per_page=2',
  )
  await list(
    'of_key',
    'Find the payment of a create without an answer',
    'idempotency_key=order-1043',
  )
  await list('of_order', 'Payments of one order', 'external_reference=order-1042')
  await record('api-cancel-payment', 'cancelled', 'Cancelled in time', { id: String(qris['id']) })

  await caller.control(push['id'], 'expire')
  const expired = await caller.webhook('payment.expired')
  await caller.advance(HOUR)
  await caller.control(wallet['id'], 'fail')
  const failed = await caller.webhook('payment.failed')
  await caller.pay(id)
  const succeeded = await caller.webhook('payment.succeeded')
  await record('api-get-payment', 'succeeded', 'Paid', { id })
  await record('api-cancel-payment', 'paid', 'Already paid', { id })
  // After an hour, no event can appear before these.
  await caller.advance(HOUR)
  await record('api-list-events', 'followed', 'The first two of several', { query: 'limit=2' })
  await record('api-get-balance', 'pending', 'Credited, but not settled yet')
  return { paymentId: id, webhooks: [succeeded, failed, expired] }
}

/** A succeeded delivery gets a new round. */
async function walkDeliveries({ caller, clientId, key, record }: Walk) {
  await record('api-list-webhook-endpoints', 'endpoints', 'One endpoint, for all events')
  const arrivedDelivery = await eventually('no delivery arrived', async () => {
    const { body } = await caller.call('api-list-webhook-deliveries', {
      key,
      query: 'status=succeeded',
    })
    const [delivery, ...others] = v.parse(Deliveries, body).data
    return others.length === 3 ? delivery : undefined
  })
  const { id, event_id: eventId } = arrivedDelivery
  await record('api-list-webhook-deliveries', 'of_event', 'Deliveries of one event', {
    query: `event_id=${eventId}`,
  })
  await record('api-get-webhook-delivery', 'succeeded', 'Delivered at the first attempt', { id })
  await record('api-redeliver-webhook', 'begun', 'A new round has started', { id })
  const endpoint = { client_id: clientId, endpoint_id: arrivedDelivery.endpoint_id }
  await caller.act('update-endpoint', { ...endpoint, enabled: false })
  await record('api-redeliver-webhook', 'disabled', 'The endpoint is disabled', { id })
  const request = { id: arrivedDelivery.endpoint_id, body: { since: '2026-01-14T02:00:00Z' } }
  await record('api-redeliver-to-endpoint', 'disabled', 'The endpoint is disabled', request)
  await caller.act('update-endpoint', { ...endpoint, enabled: true })
  await record('api-redeliver-to-endpoint', 'nothing_left', 'The endpoint missed nothing', request)
  await record('api-redeliver-to-endpoint', 'since', 'Without a time', { ...request, body: {} })
}

/** Refusals of invalid requests change nothing. */
async function walkRefusals({ caller, clientId, record }: Walk) {
  const recordRefusal = (name: string, summary: string, body: Json) =>
    record('api-create-payment', name, summary, { body: { ...QRIS, ...body } })
  await recordRefusal('amount', 'An amount of zero', { amount: 0 })
  await recordRefusal('method', 'An unknown method', { method: 'cash' })
  await recordRefusal('channel', 'Without a channel', { method: 'virtual_account' })
  await recordRefusal('unknown_field', 'An unknown field', { colour: 'red' })
  await recordRefusal('metadata', 'Metadata that is not an object', { metadata: 'red' })
  await recordRefusal('phone', 'Without the phone that the wallet needs', {
    method: 'ewallet',
    channel_code: 'OVO',
  })
  await record('api-list-payments', 'status', 'An unknown status', { query: 'status=paid' })
  await record('api-list-payments', 'reference', 'An empty reference', {
    query: 'external_reference=',
  })
  await record('api-get-balance', 'currency', 'Another currency', { query: 'currency=USD' })
  await record('api-list-events', 'after', 'An invalid cursor', { query: 'after=yesterday' })
  await record('api-list-settlements', 'page', 'An invalid page', { query: 'page=first' })
  await record('api-list-payments', 'unknown_parameter', 'A misspelt filter', {
    query: 'external_referense=order-1042',
  })
  await record('api-list-webhook-endpoints', 'unknown_parameter', 'An unknown parameter', {
    query: 'expand=all',
  })
  const id = '00000000-0000-4000-8000-000000000000'
  for (const [operation, noun] of [
    ['get-payment', 'payment'],
    ['cancel-payment', 'payment'],
    ['get-settlement', 'settlement'],
    ['list-settlement-payments', 'settlement'],
    ['get-webhook-delivery', 'delivery'],
    ['redeliver-webhook', 'delivery'],
  ] as const)
    await record(`api-${operation}`, 'not_found', `An unknown ${noun}`, { id })
  await record('api-list-webhook-deliveries', 'status', 'An unknown status', {
    query: 'status=paid',
  })
  await record('api-list-webhook-deliveries', 'not_found', 'An unknown endpoint', {
    query: `endpoint_id=${id}`,
  })
  await record('api-redeliver-to-endpoint', 'not_found', 'An unknown endpoint', {
    id,
    body: { since: '2026-01-14T00:00:00Z' },
  })
  await record('api-get-balance', 'auth', 'An unknown key', { key: 'unknown' })
  const { api_key: readOnly } = await caller.act('issue-api-key', {
    client_id: clientId,
    permissions: 'read_only',
  })
  await record('api-create-payment', 'forbidden', 'A read-only key', {
    key: String(readOnly),
    body: QRIS,
  })
}

async function walkFailures({ caller, key, record, addAnswer }: Walk) {
  const create = { body: QRIS, idempotencyKey: 'order-1046' }
  await caller.fault('create', 'http_500')
  await record(
    'api-create-payment',
    'internal_error',
    'The provider failed during a create',
    create,
  )
  const { body: payment } = await caller.call('api-create-payment', { key, ...create })
  for (const [name, fault, summary] of [
    ['server_error', 'http_500', 'The provider failed'],
    ['network', 'timeout', 'The provider did not answer'],
  ] as const) {
    await caller.fault('cancel', fault)
    await record('api-cancel-payment', name, summary, { id: String(payment['id']) })
  }

  const flooding = await caller.act('create-client', { name: 'Flood', rate_limit_per_second: 1 })
  const { api_key: theirs } = await caller.act('issue-api-key', {
    client_id: flooding['client_id'],
  })
  const refusal = await eventually('no 429', async () => {
    const calls = Array.from({ length: 20 }, () =>
      caller.call('api-get-balance', { key: String(theirs) }),
    )
    return (await Promise.all(calls)).find(({ status }) => status === 429)
  })
  addAnswer(refusal, 'rate_limit', 'The merchant used more than its limit')
}

/** A part of a payment goes back, its customer disputes the rest, another pays too much. */
async function walkMoneyBack({ caller, key, record }: Walk, id: string) {
  await caller.control(id, 'reverse', { kind: 'refund', amount: 50_000 })
  await caller.advance(HOUR)
  const reversed = await caller.webhook('payment.reversed')
  await record('api-get-payment', 'reversed', 'A part was reversed', { id })
  await caller.control(id, 'reverse', { kind: 'chargeback', amount: 100_000 })
  const disputed = await caller.webhook('payment.disputed')
  await record('api-get-payment', 'disputed', 'The customer disputes it', { id })
  const create = { key, body: QRIS, idempotencyKey: 'order-1060' }
  const { body } = await caller.call('api-create-payment', create)
  const failedId = String(body['id'])
  await caller.fault('payment', 'wrong_amount', 60_000)
  await caller.pay(failedId)
  const heldEvent = await caller.webhook('payment.held')
  const summary = 'Failed: the customer paid another amount'
  await record('api-get-payment', 'held', summary, { id: failedId })
  return [reversed, disputed, heldEvent]
}
