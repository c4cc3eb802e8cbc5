import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { PROVIDER_KEY } from './backends.ts'
import type { LocalCloud } from './local-cloud.ts'

const AMOUNT_MINOR = 150_000
const REQUEST_TIMEOUT_MS = 30_000
const WEBHOOK_WAIT_MS = 30_000
const POLL_MS = 100

const Payment = v.object({
  id: v.string(),
  status: v.string(),
  payment_destination: v.string(),
  notional_minor: v.number(),
  client_net_minor: v.number(),
  paid_at: v.optional(v.string()),
})
const Balance = v.object({ pending_minor: v.number(), available_minor: v.number() })
const ProviderRequests = v.array(v.object({ payment_request_id: v.string() }))
const Received = v.array(v.object({ headers: v.record(v.string(), v.unknown()), body: v.string() }))

type Demo = Pick<LocalCloud, 'urls' | 'demoClient'>

/**
 * Walks one payment through its life by HTTP alone, as its merchant, customer and provider would, telling each step.
 * Throws with a message for a person at the first thing that is not as it should be; every wait is bounded.
 */
export const demoWalk = async (demo: Demo, tell: (line: string) => void): Promise<void> => {
  const { urls, demoClient } = demo
  const merchant = { authorization: `Bearer ${demoClient.api_key}`, 'content-type': 'application/json' }
  const balance = () => call(Balance, `${urls.api}/v1/balance`, { headers: merchant })

  tell('\n1. The merchant creates a payment by BCA virtual account')
  const create = {
    method: 'POST',
    headers: { ...merchant, 'idempotency-key': 'demo-1' },
    body: JSON.stringify({ method: 'virtual_account', channel_code: 'BCA', amount: AMOUNT_MINOR, currency: 'IDR' }),
  }
  const created = await call(Payment, `${urls.api}/v1/payments`, create)
  tell(`   payment      ${created.id}, ${created.status}`)
  tell(`   destination  ${created.payment_destination} (the account number the customer is shown)`)

  tell('\n2. The same request again, as after a lost answer')
  const replayed = await call(Payment, `${urls.api}/v1/payments`, create)
  expect(replayed.id === created.id, 'the repeated request gave another payment')
  tell(`   payment      ${replayed.id}: the same one, nothing was created twice`)

  tell('\n3. The customer pays at the bank; the provider tells us')
  await payAtProvider(urls.provider, created.id)
  tell(`   paid         IDR ${AMOUNT_MINOR}`)

  tell('\n4. The webhook reaches the merchant')
  const webhook = await webhookFor(urls.inbox, created.id)
  const signature = createHmac('sha256', demoClient.signing_secret).update(webhook.body).digest('hex')
  expect(webhook.headers['x-gateway-signature'] === signature, 'the webhook is not signed with the endpoint’s secret')
  tell(`   event        ${String(webhook.headers['x-gateway-event'])}`)
  tell(`   signature    ${signature.slice(0, 16)}… verified: HMAC-SHA256 of the body with the endpoint's secret`)

  tell('\n5. The payment and the balance')
  const paid = await call(Payment, `${urls.api}/v1/payments/${created.id}`, { headers: merchant })
  expect(paid.status === 'succeeded', `the payment is ${paid.status}`)
  const { pending_minor, available_minor } = await balance()
  expect(pending_minor === paid.client_net_minor, 'the balance is not the net of the one payment')
  tell(
    `   payment      ${paid.status} at ${paid.paid_at ?? '?'}, net IDR ${paid.client_net_minor} of ${paid.notional_minor}`,
  )
  tell(`   balance      pending IDR ${pending_minor}, available IDR ${available_minor}`)
}

const payAtProvider = async (providerUrl: string, paymentId: string): Promise<void> => {
  const query = `reference_id=${encodeURIComponent(paymentId)}`
  const [request] = await call(ProviderRequests, `${providerUrl}/_simulator/payment_requests?${query}`)
  expect(request !== undefined, 'the provider knows no request for the payment')
  const headers = {
    authorization: `Basic ${Buffer.from(`${PROVIDER_KEY}:`).toString('base64')}`,
    'api-version': '2024-11-11',
    'content-type': 'application/json',
  }
  const path = `/v3/payment_requests/${request?.payment_request_id ?? ''}/simulate`
  await call(v.unknown(), `${providerUrl}${path}`, { method: 'POST', headers, body: '{}' })
}

const webhookFor = async (inboxUrl: string, paymentId: string): Promise<v.InferOutput<typeof Received>[number]> => {
  for (const deadline = Date.now() + WEBHOOK_WAIT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const received = await call(Received, `${inboxUrl}/received`)
    const webhook = received.find(({ body }) => body.includes(paymentId))
    if (webhook) return webhook
  }
  throw new Error(`no webhook within ${WEBHOOK_WAIT_MS / 1_000} s`)
}

const call = async <const Schema extends v.GenericSchema>(
  schema: Schema,
  url: string,
  init: RequestInit = {},
): Promise<v.InferOutput<Schema>> => {
  const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${init.method ?? 'GET'} ${url} answered ${answer.status}: ${text}`)
  return v.parse(schema, JSON.parse(text))
}

const expect = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Error(otherwise)
}
