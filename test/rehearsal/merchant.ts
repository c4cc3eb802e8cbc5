import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import { BASIC } from '../bench/local/merchants-and-customers.ts'
import { call, eventually, expect, HOOKS_URL, OPERATOR, type Rehearsal } from './rehearsal.ts'

const ClientSchema = v.object({ client_id: v.string() })
const KeySchema = v.object({ key_id: v.string(), api_key: v.string() })
const EndpointSchema = v.object({ endpoint_id: v.string(), signing_secret: v.string() })

export const PaymentSchema = v.object({
  id: v.string(),
  status: v.string(),
  payment_destination: v.nullish(v.string()),
  fee_status: v.optional(v.string()),
  client_net_minor: v.optional(v.number()),
})
export type Payment = v.InferOutput<typeof PaymentSchema>

const ReceivedSchema = v.array(v.object({ headers: v.record(v.string(), v.unknown()), body: v.string() }))
export type Received = v.InferOutput<typeof ReceivedSchema>[number]

const RequestsSchema = v.array(v.object({ payment_request_id: v.string() }))

/** A merchant of the stage: its ids, and what it does by HTTP alone. */
export type Merchant = {
  readonly clientId: string
  readonly keyId: string
  readonly endpointId: string
  get<const Schema extends v.GenericSchema>(schema: Schema, path: string): Promise<v.InferOutput<Schema>>
  post<const Schema extends v.GenericSchema>(
    schema: Schema,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
    status?: number,
  ): Promise<v.InferOutput<Schema>>
  /** 201; 200 where the key is known. */
  create(idempotencyKey: string, status?: number): Promise<Payment>
  /** Its customer pays: the provider calls back, and it is credited. Another amount than asked fails it. */
  pay(payment: Payment, anotherAmountMinor?: number): Promise<Payment>
  hasStatus(payment: Payment, status: string): Promise<Payment>
  /** The same merchant at another address of the API. */
  at(apiUrl: string): Merchant
  /** The webhooks about a payment so far, each with a right signature. */
  webhooksOf(payment: Payment): Promise<readonly Received[]>
}

/** More than a step of the rehearsal asks for on a machine that is fast. */
const POINTS_A_SECOND = 50

/** Taken on by operators: with bank details, a key and an endpoint. */
export const takeOnMerchant = async (rehearsal: Rehearsal, apiUrl: string, name: string): Promise<Merchant> => {
  const { admin } = rehearsal
  const bank = { bank_name: 'BCA', bank_account_no: '1234567890', bank_account_name: `PT ${name}` }
  const limit = { rate_limit_per_second: POINTS_A_SECOND }
  const made = await admin('create-client', { operator: OPERATOR, name, bank, ...limit })
  const { client_id: clientId } = v.parse(ClientSchema, made)
  const owned = { operator: OPERATOR, client_id: clientId }
  const { key_id: keyId, api_key } = v.parse(KeySchema, await admin('issue-api-key', owned))
  const wanted = { ...owned, url: HOOKS_URL, event_types: ['*'] }
  const endpoint = v.parse(EndpointSchema, await admin('register-endpoint', wanted))
  const ids = { clientId, keyId, endpointId: endpoint.endpoint_id }
  return merchantAt(rehearsal, apiUrl, { ids, apiKey: api_key, signingSecret: endpoint.signing_secret })
}

type Known = {
  readonly ids: Pick<Merchant, 'clientId' | 'keyId' | 'endpointId'>
  readonly apiKey: string
  readonly signingSecret: string
}

const merchantAt = (rehearsal: Rehearsal, apiUrl: string, known: Known): Merchant => {
  const { world } = rehearsal
  const headers = { authorization: `Bearer ${known.apiKey}`, 'content-type': 'application/json' }

  const get: Merchant['get'] = (schema, path) => call(schema, `${apiUrl}/v1/${path}`, { headers })
  const post: Merchant['post'] = (schema, path, body = {}, more = {}, status = 200) => {
    const init = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
    return call(schema, `${apiUrl}/v1/${path}`, init, status)
  }
  const create = (idempotencyKey: string, status = 201) => {
    const request = { method: 'virtual_account', channel_code: 'BCA', amount: 150_000, currency: 'IDR' }
    return post(PaymentSchema, 'payments', request, { 'idempotency-key': idempotencyKey }, status)
  }
  const hasStatus = ({ id }: Payment, status: string) =>
    eventually(`payment ${status}`, async () => {
      const payment = await get(PaymentSchema, `payments/${id}`)
      return payment.status === status ? payment : undefined
    })
  return {
    ...known.ids,
    at: (elsewhere) => merchantAt(rehearsal, elsewhere, known),
    get,
    post,
    create,
    hasStatus,
    pay: async (payment, anotherAmountMinor) => {
      await payAtProvider(world, payment, anotherAmountMinor)
      return hasStatus(payment, anotherAmountMinor === undefined ? 'succeeded' : 'failed')
    },
    webhooksOf: async ({ id }) => {
      const received = await call(ReceivedSchema, `${world.inbox}/received`)
      const about = received.filter(({ body }) => body.includes(id))
      for (const { headers: said, body } of about) {
        const signature = createHmac('sha256', known.signingSecret).update(body).digest('hex')
        expect(said['x-gateway-signature'] === signature, 'a webhook is not signed with the secret of its endpoint')
      }
      return about
    },
  }
}

/** The request at the provider by which a payment is paid. */
export const requestOf = async (provider: string, { id }: Payment): Promise<string> => {
  const [found] = await call(RequestsSchema, `${provider}/_simulator/payment_requests?reference_id=${id}`)
  if (found === undefined) throw new Error(`the provider knows no request for ${id}`)
  return found.payment_request_id
}

const payAtProvider = async ({ provider }: Rehearsal['world'], payment: Payment, amount: number | undefined) => {
  const headers = { ...BASIC, 'content-type': 'application/json' }
  const path = `/v3/payment_requests/${await requestOf(provider, payment)}/simulate`
  await call(v.unknown(), `${provider}${path}`, { method: 'POST', headers, body: JSON.stringify({ amount }) })
}
