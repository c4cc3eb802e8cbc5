import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import { PROVIDER_HEADERS } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { call, expect, HOOKS_URL, OPERATOR, type Rehearsal } from './rehearsal.ts'

export const KeySchema = v.object({ key_id: v.string(), api_key: v.pipe(v.string(), v.nonEmpty()) })

export const PaymentSchema = v.object({
  id: v.string(),
  status: v.string(),
  payment_destination: v.nullish(v.string()),
  fee_status: v.optional(v.string()),
  client_net_minor: v.optional(v.number()),
})
export type Payment = v.InferOutput<typeof PaymentSchema>

export const DeliveriesSchema = v.object({
  data: v.array(
    v.object({
      event_id: v.string(),
      payment_id: v.optional(v.string()),
      attempts: v.array(v.object({ http_status: v.nullable(v.number()) })),
    }),
  ),
})

export type Merchant = ReturnType<typeof merchantAt>

export async function takeOnMerchant(
  rehearsal: Rehearsal,
  apiUrl: string,
  name: string,
): Promise<Merchant> {
  const { admin } = rehearsal
  const bank = { bank_name: 'BCA', bank_account_no: '1234567890', bank_account_name: `PT ${name}` }
  // The limit is above what any step of the rehearsal uses on a fast machine.
  const made = await admin('create-client', {
    operator: OPERATOR,
    name,
    bank,
    rate_limit_per_second: 50,
  })
  const { client_id: clientId } = v.parse(v.object({ client_id: v.string() }), made)
  const owned = { operator: OPERATOR, client_id: clientId }
  const { api_key: apiKey } = v.parse(KeySchema, await admin('issue-api-key', owned))
  const endpoint = await admin('register-endpoint', {
    ...owned,
    url: HOOKS_URL,
    event_types: ['*'],
  })
  const registered = v.parse(
    v.object({ endpoint_id: v.string(), signing_secret: v.string() }),
    endpoint,
  )
  const { endpoint_id: endpointId, signing_secret: signingSecret } = registered
  return merchantAt(rehearsal, apiUrl, { clientId, endpointId, apiKey, signingSecret })
}

/** The merchant only calls this address of the API by HTTP. */
export function merchantAt(
  { world, eventually, isAbout }: Rehearsal,
  apiUrl: string,
  known: Readonly<Record<'clientId' | 'endpointId' | 'apiKey' | 'signingSecret', string>>,
) {
  const headers = { authorization: `Bearer ${known.apiKey}`, 'content-type': 'application/json' }
  const get = <const Schema extends v.GenericSchema>(schema: Schema, path: string) =>
    call(schema, `${apiUrl}/v1/${path}`, { headers })
  const post = <const Schema extends v.GenericSchema>(
    schema: Schema,
    path: string,
    body: object = {},
    more: Readonly<Record<string, string>> = {},
    status = 200,
  ) => {
    const init = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) }
    return call(schema, `${apiUrl}/v1/${path}`, init, status)
  }
  const create = async (idempotencyKey: string, status = 201) => {
    const request = {
      method: 'virtual_account',
      channel_code: 'BCA',
      amount: 150_000,
      currency: 'IDR',
    }
    const key = { 'idempotency-key': idempotencyKey }
    const payment = await post(PaymentSchema, 'payments', request, key, status)
    isAbout(payment.id)
    return payment
  }
  const hasStatus = ({ id }: Payment, status: string) => {
    isAbout(id)
    return eventually(`payment ${id} ${status}`, async () => {
      const payment = await get(PaymentSchema, `payments/${id}`)
      return payment.status === status ? payment : undefined
    })
  }
  return {
    ...known,
    get,
    post,
    create,
    hasStatus,
    /** The payment fails if the amount is wrong. */
    pay: async (payment: Payment, amount?: number) => {
      const init = {
        method: 'POST',
        headers: { ...PROVIDER_HEADERS, 'content-type': 'application/json' },
      }
      const path = `/v3/payment_requests/${await requestOf(world.provider, payment)}/simulate`
      await call(v.unknown(), world.provider + path, { ...init, body: JSON.stringify({ amount }) })
      return hasStatus(payment, amount === undefined ? 'succeeded' : 'failed')
    },
    /** Each webhook must have a right signature. */
    webhooksOf: async ({ id }: Payment) => {
      const schema = v.array(
        v.object({ headers: v.record(v.string(), v.unknown()), body: v.string() }),
      )
      const received = await call(schema, `${world.inbox}/received`)
      const about = received.filter(({ body }) => body.includes(id))
      for (const { headers: said, body } of about) {
        const signature = createHmac('sha256', known.signingSecret).update(body).digest('hex')
        expect(
          said['x-gateway-signature'] === signature,
          'a webhook is not signed with the secret of its endpoint',
        )
      }
      return about
    },
  }
}

export async function requestOf(provider: string, { id }: Payment) {
  const schema = v.array(v.object({ payment_request_id: v.string() }))
  const [found] = await call(schema, `${provider}/_simulator/payment_requests?reference_id=${id}`)
  if (found === undefined) throw new Error(`the provider knows no request for ${id}`)
  return found.payment_request_id
}
