import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import * as v from 'valibot'
import { startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import {
  CALLBACK_TOKEN,
  PROVIDER_HEADERS,
} from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { PAYMENT_BODY } from '../assumptions.ts'

/** The answer must have the wanted status: figures of refusals would be too good. */
type Call = {
  readonly method: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly wanted?: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

/**
 * A call over a kept connection, with as little work as Node allows, because the caller shares the
 * machine.
 */
export async function call(asked: Call) {
  const { method, url, headers = {}, body, wanted = 200 } = asked
  const sent = request(url, { method, agent, headers })
  try {
    sent.end(body)
    const [answer]: IncomingMessage[] = await once(sent, 'response', {
      signal: AbortSignal.timeout(60_000),
    })
    const said = answer ? await text(answer) : ''
    if (answer?.statusCode === wanted) return said
    throw new Error(`${method} ${url} was answered ${answer?.statusCode}: ${said}`)
  } catch (error) {
    // The server may close a kept connection in the moment it is used again: nothing was answered
    // on it.
    if (sent.reusedSocket && Object(error).code === 'ECONNRESET') return call(asked)
    throw error
  }
}

const Ready = v.object({
  api: v.string(),
  lambda: v.optional(v.string(), ''),
  provider: v.string(),
  table: v.optional(v.object({ endpoint: v.string(), name: v.string() })),
})
export type Program = v.InferOutput<typeof Ready> & { end(): Promise<void> }

export async function startProgram(name: string, ...args: readonly string[]) {
  const child = fork(join(import.meta.dirname, name), [...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const signal = AbortSignal.timeout(60_000)
  const ended = once(child, 'exit').then(() =>
    Promise.reject(new Error(`${name} ended before it was ready`)),
  )
  const [message]: unknown[] = await Promise.race([once(child, 'message', { signal }), ended])
  ended.catch(() => undefined)
  return { ...v.parse(Ready, message), end: () => end(child) }
}

async function end(child: ChildProcess) {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.disconnect()
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
  await exited
  clearTimeout(late)
}

export async function addMerchant(gateway: Program, url: string) {
  // Far above what the bench asks, so that the limit refuses no request.
  const { client_id } = await act(gateway, 'create-client', {
    name: 'Bench',
    rate_limit_per_second: 10_000,
  })
  const { api_key } = await act(gateway, 'issue-api-key', { client_id })
  await act(gateway, 'register-endpoint', { client_id, url, event_types: ['*'] })
  return { authorization: `Bearer ${String(api_key)}`, 'content-type': 'application/json' }
}

async function act({ lambda }: Program, action: string, payload: object) {
  const url = `${lambda}/2015-03-31/functions/gateway-local-${action}/invocations`
  const said = await call({
    method: 'POST',
    url,
    body: JSON.stringify({ operator: 'bench', ...payload }),
  })
  const schema = v.object({ status: v.literal(200), body: v.looseObject({}) })
  return v.parse(schema, JSON.parse(said), { message: `${action} answered ${said}` }).body
}

export async function createPayment({ api }: Program, headers: Record<string, string>) {
  const asked = {
    method: 'POST',
    url: `${api}/v1/payments`,
    headers,
    body: PAYMENT_BODY,
    wanted: 201,
  }
  return v.parse(v.object({ id: v.string() }), JSON.parse(await call(asked))).id
}

/** From now on the bench sends the callbacks, not the provider's simulator. */
export async function keepCallbacks({ provider }: Program) {
  const body = JSON.stringify({ target: 'callback', fault: 'lost', times: 1_000_000 })
  await call({ method: 'POST', url: `${provider}/_simulator/faults`, body })
}

const Requests = v.array(
  v.object({
    payment_request_id: v.string(),
    reference_id: v.string(),
    latest_payment_id: v.optional(v.string()),
  }),
)

export async function payAtProvider({ provider }: Program, paymentId: string) {
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

export const CALLBACK_HEADERS = {
  'x-callback-token': CALLBACK_TOKEN,
  'content-type': 'application/json',
}

export function sendCallback({ api }: Program, body: string) {
  return call({ method: 'POST', url: `${api}/callbacks/xendit`, headers: CALLBACK_HEADERS, body })
}

export async function startWebhookReceiver() {
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
      const schema = v.object({ data: v.object({ id: v.string() }) })
      const { id } = v.parse(schema, JSON.parse(body.toString('utf8'))).data
      came.add(id)
      arrivalAt(id).resolve()
      return { status: 200, body: 'ok' }
    },
  })
  return {
    url: `${url}/hooks`,
    close,
    came: came as ReadonlySet<string>,
    arrivalOf: async (id: string) => {
      const { promise, reject } = arrivalAt(id)
      // A second attempt comes after a minute: its time would distort the figures.
      const late = setTimeout(() => reject(new Error(`no webhook of ${id} came`)), 30_000)
      return promise.finally(() => clearTimeout(late))
    },
  }
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>
