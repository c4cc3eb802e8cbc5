import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import type { LocalCloud } from './local-cloud.ts'
import { eventually } from './process/eventually.ts'
import { PROVIDER_KEY } from './provider-simulator/simulator-keys.ts'

const AMOUNT_MINOR = 150_000
const REQUEST_TIMEOUT_MS = 30_000
const DAY_SECONDS = 86_400

/** Enough for the provider to settle over a weekend, which makes the fee final, and for the sweep's 24 hours. */
export const DAYS_TO_PAYOUT = 5

const Payment = v.object({
  id: v.string(),
  status: v.string(),
  payment_destination: v.string(),
  notional_minor: v.number(),
  xendit_fee_minor: v.number(),
  client_net_minor: v.number(),
  fee_status: v.string(),
  paid_at: v.optional(v.string()),
})
const Balance = v.object({
  pending_minor: v.number(),
  available_minor: v.number(),
  in_settlement_minor: v.number(),
  paid_out_minor: v.number(),
})
const ProviderRequests = v.array(v.object({ payment_request_id: v.string() }))
const Settlement = v.object({ id: v.string(), status: v.string(), net_minor: v.number(), payment_count: v.number() })
const Settlements = v.object({ data: v.array(Settlement) })
const Received = v.array(v.object({ headers: v.record(v.string(), v.unknown()), body: v.string() }))

type Demo = Pick<LocalCloud, 'urls' | 'demoClient'>

type Tell = (line: string) => void

/**
 * Takes one payment from its creation to the payout, by HTTP only, and tells each step. It acts as merchant, customer,
 * provider and operator. Throws a readable message at the first wrong result; every wait is bounded.
 */
export const demoWalk = async (demo: Demo, tell: Tell): Promise<void> => {
  const paymentId = await walkToCredit(demo, tell)
  await walkToPayout(demo, tell, paymentId)
}

const merchantOf = ({ demoClient }: Demo) => ({
  authorization: `Bearer ${demoClient.api_key}`,
  'content-type': 'application/json',
})

const read = <const Schema extends v.GenericSchema>(schema: Schema, demo: Demo, path: string) =>
  call(schema, `${demo.urls.api}/v1/${path}`, { headers: merchantOf(demo) })

const tellBalance = async (demo: Demo, tell: Tell) => {
  const balance = await read(Balance, demo, 'balance?include=settlements')
  const { pending_minor, available_minor, in_settlement_minor, paid_out_minor } = balance
  tell(
    `   balance      pending IDR ${pending_minor}, available ${available_minor}, in settlement ${in_settlement_minor}, paid out ${paid_out_minor}`,
  )
  return balance
}

/** Creates a payment, pays it, and returns its id. */
const walkToCredit = async (demo: Demo, tell: Tell): Promise<string> => {
  const { urls, demoClient } = demo
  tell('\n1. The merchant creates a payment by BCA virtual account')
  const create = {
    method: 'POST',
    headers: { ...merchantOf(demo), 'idempotency-key': 'demo-1' },
    body: JSON.stringify({ method: 'virtual_account', channel_code: 'BCA', amount: AMOUNT_MINOR, currency: 'IDR' }),
  }
  const created = await call(Payment, `${urls.api}/v1/payments`, create)
  tell(`   payment      ${created.id}, ${created.status}`)
  tell(`   destination  ${created.payment_destination} (the account number the customer is shown)`)

  tell('\n2. The merchant retries the same request, as after a lost answer')
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
  const paid = await read(Payment, demo, `payments/${created.id}`)
  expect(paid.status === 'succeeded', `the payment is ${paid.status}`)
  tell(`   payment      ${paid.status} at ${paid.paid_at ?? '?'}, net IDR ${netOf(paid)} of ${paid.notional_minor}`)
  const credited = await tellBalance(demo, tell)
  expect(credited.pending_minor === paid.client_net_minor, 'the balance is not the net of the one payment')
  return created.id
}

const walkToPayout = async (demo: Demo, tell: Tell, paymentId: string): Promise<void> => {
  tell(`\n6. ${DAYS_TO_PAYOUT} days later the provider has settled the money to us: its fee is final`)
  const clock = { method: 'POST', body: JSON.stringify({ advance_seconds: DAYS_TO_PAYOUT * DAY_SECONDS }) }
  await call(v.unknown(), `${demo.urls.lambda}/_local/clock`, clock)
  await invoke(v.unknown(), demo, 'sync-provider-transactions', {})
  const final = await read(Payment, demo, `payments/${paymentId}`)
  expect(final.fee_status === 'actual', `the fee is ${final.fee_status}`)
  tell(`   payment      fee IDR ${final.xendit_fee_minor}, net IDR ${netOf(final)}`)

  tell('\n7. The daily sweep records a settlement, and an operator pays it out')
  await invoke(v.unknown(), demo, 'sweep-settlements', {})
  const settlement = await eventually(
    'no settlement',
    async () => (await read(Settlements, demo, 'settlements')).data[0],
  )
  expect(settlement.net_minor === final.client_net_minor, 'the settlement is not the net of the one payment')
  tell(`   settlement   ${settlement.id}, ${settlement.status}: IDR ${settlement.net_minor}`)
  await tellBalance(demo, tell)
  const audited = { method: 'POST', body: JSON.stringify({ advance_seconds: AUDITED_AFTER_SECONDS }) }
  await call(v.unknown(), `${demo.urls.lambda}/_local/clock`, audited)
  await invoke(v.unknown(), demo, 'check-due-work', {})
  const order = { operator: 'demo', settlement_id: settlement.id, bank_reference: 'DEMO-1' }
  const closed = await eventually('no audit', async () => {
    const answer = await invoke(Closed, demo, 'mark-settlement-paid', order)
    return answer.status === 200 ? v.parse(v.object({ body: Settlement }), answer) : undefined
  })
  tell(`   settlement   ${closed.body.status}`)
  const { paid_out_minor } = await tellBalance(demo, tell)
  expect(paid_out_minor === final.client_net_minor, 'what was paid out is not the net of the one payment')
}

/** A settlement is audited a minute after it was recorded, and only then paid out. */
const AUDITED_AFTER_SECONDS = 120
const Closed = v.looseObject({ status: v.number() })

const netOf = ({ client_net_minor, fee_status }: v.InferOutput<typeof Payment>) =>
  `${client_net_minor} (fee ${fee_status})`

/** Calls a function of the gateway by the Invoke API, as the AWS CLI does. */
const invoke = <const Schema extends v.GenericSchema>(schema: Schema, { urls }: Demo, name: string, payload: object) =>
  call(schema, `${urls.lambda}/2015-03-31/functions/gateway-local-${name}/invocations`, {
    method: 'POST',
    body: JSON.stringify(payload),
  })

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

const webhookFor = (inboxUrl: string, paymentId: string) =>
  eventually('no webhook', async () => {
    const received = await call(Received, `${inboxUrl}/received`)
    return received.find(({ body }) => body.includes(paymentId))
  })

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
