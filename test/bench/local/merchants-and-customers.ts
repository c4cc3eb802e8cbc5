import * as v from 'valibot'
import { startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { CALLBACK_TOKEN, PROVIDER_HEADERS } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { PAYMENT_BODY } from '../assumptions.ts'
import type { Bench, HttpCaller, Program } from './start-bench.ts'

const Acted = v.object({ status: v.literal(200), body: v.looseObject({}) })

/** Does what an operator does at a gateway that runs here; throws when it is refused. */
const act = async ({ call, gateway }: Bench, action: string, payload: object) => {
  const url = `${gateway.lambda}/2015-03-31/functions/gateway-local-${action}/invocations`
  const text = await call({ method: 'POST', url, body: JSON.stringify({ operator: 'bench', ...payload }) })
  return v.parse(Acted, JSON.parse(text), { message: `${action} answered ${text}` }).body
}

/** Far above what is asked here, so that no request is counted. */
const NO_LIMIT = 10_000

/** A client with a key and an endpoint. Answers the headers of its requests. */
export const addMerchant = async (bench: Bench, url: string): Promise<Record<string, string>> => {
  const { client_id } = await act(bench, 'create-client', { name: 'Bench', rate_limit_per_second: NO_LIMIT })
  const { api_key } = await act(bench, 'issue-api-key', { client_id })
  await act(bench, 'register-endpoint', { client_id, url, event_types: ['*'] })
  return { authorization: `Bearer ${String(api_key)}`, 'content-type': 'application/json' }
}

const Made = v.object({ id: v.string() })

export const createPayment = async (
  { call, api }: Pick<HttpCaller, 'call'> & Pick<Program, 'api'>,
  headers: Record<string, string>,
): Promise<string> => {
  const asked = { method: 'POST', url: `${api}/v1/payments`, headers, body: PAYMENT_BODY, wanted: 201 }
  return v.parse(Made, JSON.parse(await call(asked))).id
}

const Requests = v.array(
  v.object({ payment_request_id: v.string(), reference_id: v.string(), latest_payment_id: v.optional(v.string()) }),
)
const MANY = 1_000_000

/** From now on the provider's simulator sends no callback by itself: the bench sends them. */
export const keepCallbacks = async (call: HttpCaller['call'], { provider }: Program): Promise<void> => {
  const body = JSON.stringify({ target: 'callback', fault: 'lost', times: MANY })
  await call({ method: 'POST', url: `${provider}/_simulator/faults`, body })
}

/** The customer pays a payment at the provider. Answers the callback that the provider would send then. */
export const payAtProvider = async (call: HttpCaller['call'], { provider }: Program, paymentId: string) => {
  const find = async () => {
    const url = `${provider}/_simulator/payment_requests?reference_id=${paymentId}`
    const [found] = v.parse(Requests, JSON.parse(await call({ method: 'GET', url })))
    if (found === undefined) throw new Error(`the provider knows nothing of ${paymentId}`)
    return found
  }
  const { payment_request_id: requestId } = await find()
  const url = `${provider}/v3/payment_requests/${requestId}/simulate`
  await call({ method: 'POST', url, headers: PROVIDER_HEADERS })
  const { latest_payment_id: payment_id, ...said } = await find()
  return JSON.stringify({ event: 'payment.capture', data: { ...said, payment_id } })
}

export const CALLBACK_HEADERS = { 'x-callback-token': CALLBACK_TOKEN, 'content-type': 'application/json' }

const Webhook = v.object({ data: v.object({ id: v.string() }) })

/** A second attempt comes after a minute: its time would be no measurement. */
const WEBHOOK_WITHIN_MS = 30_000

/** A merchant's server: says when the webhook of a payment came. */
export const startWebhookReceiver = async () => {
  const arrivals = new Map<string, PromiseWithResolvers<void>>()
  const came = new Set<string>()
  const arrivalAt = (id: string) => {
    const arrival = arrivals.get(id) ?? Promise.withResolvers<void>()
    arrivals.set(id, arrival)
    return arrival
  }
  const { url, close } = await startLocalHttpServer({
    port: 0,
    answer: ({ body }) => {
      const { id } = v.parse(Webhook, JSON.parse(body.toString('utf8'))).data
      came.add(id)
      arrivalAt(id).resolve()
      return { status: 200, body: 'ok' }
    },
  })
  return {
    url: `${url}/hooks`,
    close,
    /** Ids of the payments whose webhooks have come. */
    came: came as ReadonlySet<string>,
    /** Resolves when it has come. Rejects when it is much too late. */
    arrivalOf: async (id: string): Promise<void> => {
      const { promise, reject } = arrivalAt(id)
      const late = setTimeout(() => reject(new Error(`no webhook of ${id} came`)), WEBHOOK_WITHIN_MS)
      return promise.finally(() => clearTimeout(late))
    },
  }
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>
