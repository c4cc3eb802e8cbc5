import { type LocalCloud, startLocalCloud } from '../../infra/local/local-cloud.ts'

type Json = Record<string, unknown>
export type HttpAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Json
}
export type SimulatorRequest = Json & { readonly payment_request_id: string; readonly status: string }

const answerOf = async (response: Response): Promise<HttpAnswer> => {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: (text ? JSON.parse(text) : {}) as Json }
}

/** The local gateway as merchants, customers and operators meet it: by HTTP alone. */
export type World = Awaited<ReturnType<typeof startWorld>>

export const startWorld = async () => {
  const cloud: LocalCloud = await startLocalCloud({ port: 0 })
  const { urls } = cloud

  const post = async (url: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    answerOf(await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }))

  /** Answers the body of a Lambda as it stands; an operator action's is `{status, body}`. */
  const invoke = async (name: string, payload: object = {}) =>
    (await post(`${urls.lambda}/2015-03-31/functions/gateway-local-${name}/invocations`, payload)).body

  const admin = async (action: string, payload: object) =>
    (await invoke(action, payload)) as { readonly status: number; readonly body: Json }

  /** A merchant of its own, with a key and, unless told otherwise, one endpoint at the inbox. */
  const merchant = async (endpointUrls: readonly string[] = [`${urls.inbox}/hooks`]) => {
    const operator = 'test'
    const { body: client } = await admin('create-client', { operator, name: 'Toko Uji' })
    const clientId = String(client['client_id'])
    const { body: key } = await admin('issue-api-key', { operator, client_id: clientId })
    const endpoints: Json[] = []
    for (const url of endpointUrls) {
      const registered = await admin('register-endpoint', { operator, client_id: clientId, url, event_types: ['*'] })
      endpoints.push(registered.body)
    }
    const headers = { authorization: `Bearer ${String(key['api_key'])}`, 'content-type': 'application/json' }
    const get = async (path: string) => answerOf(await fetch(`${urls.api}${path}`, { headers }))
    const create = (body: object, idempotencyKey?: string) =>
      post(`${urls.api}/v1/payments`, body, {
        ...headers,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      })
    const cancel = (id: string) => post(`${urls.api}/v1/payments/${id}/cancel`, {}, headers)
    const payment = async (id: string) => (await get(`/v1/payments/${id}`)).body
    const balance = async () => (await get('/v1/balance')).body
    return { clientId, headers, endpoints, get, create, cancel, payment, balance }
  }

  const provider = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Basic ${btoa('xnd_development_local:')}`, 'api-version': '2024-11-11' }
    return answerOf(
      await fetch(`${urls.provider}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  }

  const upstream = async (paymentId: string) => {
    const found = await fetch(`${urls.provider}/_simulator/payment_requests?reference_id=${paymentId}`)
    return (await found.json()) as SimulatorRequest[]
  }

  return {
    urls,
    invoke,
    admin,
    merchant,
    upstream,
    /** The customer pays one of the payment's requests: the newest, unless told otherwise. */
    pay: async (paymentId: string, which = -1) => {
      const request = (await upstream(paymentId)).at(which)
      return provider('POST', `/v3/payment_requests/${request?.payment_request_id ?? ''}/simulate`)
    },
    control: (path: string, body: object = {}) => post(`${urls.provider}/_simulator${path}`, body),
    fault: (target: string, fault: string, value?: unknown, times = 1) =>
      post(`${urls.provider}/_simulator/faults`, { target, fault, times, ...(value !== undefined && { value }) }),
    providerCalls: async () =>
      (await (await fetch(`${urls.provider}/_simulator/calls`)).json()) as Record<string, number>,
    callback: (event: string, data: object, token = 'local-callback-token') =>
      post(`${urls.api}/callbacks/xendit`, { event, data }, { 'x-callback-token': token }),
    advance: (seconds: number) => post(`${urls.lambda}/_local/clock`, { advance_seconds: seconds }),
    alerts: async () =>
      (await (await fetch(`${urls.lambda}/_local/alerts`)).json()) as { kind: string; subject: string }[],
    /** Webhooks of a payment that reached the inbox. */
    webhooksOf: async (paymentId: string) => {
      const received = (await (await fetch(`${urls.inbox}/received`)).json()) as {
        readonly headers: Record<string, string>
        readonly body: string
      }[]
      return received.filter(({ body }) => body.includes(paymentId))
    },
    close: () => cloud.close(),
  }
}

export const VA = { method: 'virtual_account', channel_code: 'BCA', amount: 100_000, currency: 'IDR' }
export const QRIS = { method: 'qris', amount: 100_000, currency: 'IDR' }
export const OVO = {
  method: 'ewallet',
  channel_code: 'OVO',
  amount: 100_000,
  currency: 'IDR',
  customer: { phone: '+6281234567890' },
}
