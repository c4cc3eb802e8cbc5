import * as v from 'valibot'
import { startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { CALLBACK_TOKEN, PROVIDER_HEADERS } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { PAYMENT_BODY } from '../assumptions.ts'
import type { Bench, HttpCaller, Program } from './start-bench.ts'

const Acted = v.object({ status: v.literal(200), body: v.looseObject({}) })

/** Does what an operator does at a gateway that runs here; throws when it is refused. */
export const act = async ({ call, gateway }: Bench, action: string, payload: object) => {
  const url = `${gateway.lambda}/2015-03-31/functions/gateway-local-${action}/invocations`
  const { text } = await call({ method: 'POST', url, body: JSON.stringify({ operator: 'bench', ...payload }) })
  return v.parse(Acted, JSON.parse(text), { message: `${action} answered ${text}` }).body
}

export type BenchMerchant = {
  readonly headers: Record<string, string>
  readonly clientId: string
  readonly endpointId: string | undefined
}

export const addMerchant = async (
  bench: Bench,
  { endpointUrl, ...limit }: { readonly endpointUrl?: string; readonly rate_limit_per_second?: number },
): Promise<BenchMerchant> => {
  const client = await act(bench, 'create-client', { name: 'Bench', ...limit })
  const client_id = String(client['client_id'])
  const { api_key } = await act(bench, 'issue-api-key', { client_id })
  const endpoint = { client_id, url: endpointUrl, event_types: ['*'] }
  const made = endpointUrl === undefined ? {} : await act(bench, 'register-endpoint', endpoint)
  return {
    clientId: client_id,
    endpointId: Object(made)['endpoint_id'],
    headers: { authorization: `Bearer ${String(api_key)}`, 'content-type': 'application/json' },
  }
}

const Made = v.object({ id: v.string() })

export const createPayment = async (
  { call, api }: Pick<HttpCaller, 'call'> & Pick<Program, 'api'>,
  headers: BenchMerchant['headers'],
): Promise<string> => {
  const asked = { method: 'POST', url: `${api}/v1/payments`, headers, body: PAYMENT_BODY, wanted: 201 }
  return v.parse(Made, JSON.parse((await call(asked)).text)).id
}

const Requests = v.array(
  v.object({ payment_request_id: v.string(), reference_id: v.string(), latest_payment_id: v.optional(v.string()) }),
)
const MANY = 1_000_000

/** From now on the provider's simulator sends no callback by itself: the bench sends them. */
export const keepCallbacks = async (call: HttpCaller['call'], { provider }: Program): Promise<void> => {
  const body = JSON.stringify({ target: 'callback', fault: 'lost', times: MANY })
  await call({ method: 'POST', url: `${provider}/_simulator/faults`, body, wanted: 200 })
}

/** The customer pays a payment at the provider. Answers the callback that the provider would send then. */
export const payAtProvider = async (call: HttpCaller['call'], { provider }: Program, paymentId: string) => {
  const find = async () => {
    const url = `${provider}/_simulator/payment_requests?reference_id=${paymentId}`
    const [found] = v.parse(Requests, JSON.parse((await call({ method: 'GET', url, wanted: 200 })).text))
    if (found === undefined) throw new Error(`the provider knows nothing of ${paymentId}`)
    return found
  }
  const { payment_request_id: requestId } = await find()
  const url = `${provider}/v3/payment_requests/${requestId}/simulate`
  await call({ method: 'POST', url, headers: PROVIDER_HEADERS, wanted: 200 })
  const { latest_payment_id: payment_id, ...said } = await find()
  return JSON.stringify({ event: 'payment.capture', data: { ...said, payment_id } })
}

export const CALLBACK_HEADERS = { 'x-callback-token': CALLBACK_TOKEN, 'content-type': 'application/json' }

const Webhook = v.object({ data: v.optional(v.object({ id: v.optional(v.string()) }), {}) })

/** A second attempt comes after a minute: its time would be no measurement. */
const WEBHOOK_WITHIN_MS = 30_000

/** A merchant's server: says when the webhook of a delivery, or of a payment, came. A hanging one takes it and says nothing. */
export const startWebhookReceiver = async (hangs: () => boolean = () => false) => {
  const arrivals = new Map<string, PromiseWithResolvers<number>>()
  const came = new Set<string>()
  const arrivalAt = (id: string) => {
    const arrival = arrivals.get(id) ?? Promise.withResolvers<number>()
    arrivals.set(id, arrival)
    return arrival
  }
  const { url, close } = await startLocalHttpServer({
    port: 0,
    answer: ({ headers, body }) => {
      if (hangs()) return { hang: true }
      const { id } = v.parse(Webhook, JSON.parse(body.toString('utf8'))).data
      for (const name of [headers['x-gateway-delivery-id'], id]) {
        if (typeof name !== 'string') continue
        came.add(name)
        arrivalAt(name).resolve(performance.now())
      }
      return { status: 200, body: 'ok' }
    },
  })
  return {
    url: `${url}/hooks`,
    close,
    /** Ids of the deliveries and the payments whose webhooks have come. */
    came: came as ReadonlySet<string>,
    /** Resolves with the time when it comes, or came, on this process's clock. Rejects when it is much too late. */
    arrivalOf: async (id: string): Promise<number> => {
      const { promise, reject } = arrivalAt(id)
      const late = setTimeout(() => reject(new Error(`no webhook of ${id} came`)), WEBHOOK_WITHIN_MS)
      return promise.finally(() => clearTimeout(late))
    },
  }
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>
