import * as v from 'valibot'
import { MANIFEST } from '../../functions/manifest.ts'
import type { LocalCloud } from './local-cloud.ts'

import { eventually } from './process/eventually.ts'
import { PROVIDER_HEADERS } from './provider-simulator/simulator-keys.ts'

type Json = Readonly<Record<string, unknown>>

export type Answer = {
  readonly operation: string
  readonly status: number
  readonly request?: Json
  readonly body: Json
}

export type CallInput = {
  readonly key?: string
  readonly id?: string
  readonly query?: string
  readonly body?: Json
  readonly idempotencyKey?: string
}

const TIMEOUT_MS = 30_000
/** A settlement is paid out a minute after its record at the earliest. */
export const PAYABLE_AFTER_SECONDS = 120

const Body = v.looseObject({})
const Acted = v.object({ status: v.number(), body: Body })
const Refusal = v.object({ message: v.string(), action_hint: v.optional(v.string()) })
const Requests = v.array(v.object({ payment_request_id: v.string() }))
const Received = v.array(v.object({ headers: v.record(v.string(), v.unknown()), body: v.string() }))

export type ReceivedWebhook = v.InferOutput<typeof Received>[number]

/** As merchant, customer, provider and operator. Every wait is bounded. */
export function localCaller({ urls }: Pick<LocalCloud, 'urls'>) {
  const send = (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })

  const post = async (
    url: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const answer = await send(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`POST ${url} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }

  const call = async (
    operation: string,
    { key, id = '', query, body, idempotencyKey }: CallInput,
  ): Promise<Answer> => {
    const { method, path } = routeOf(operation)
    const url = `${urls.api}${path.replace('{id}', id)}${query === undefined ? '' : `?${query}`}`
    const headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    }
    const answer = await send(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const { status } = answer
    return {
      operation,
      status,
      ...(body && { request: body }),
      body: v.parse(Body, await answer.json()),
    }
  }

  const requestOf = async (paymentId: unknown) => {
    const answer = await send(
      `${urls.provider}/_simulator/payment_requests?reference_id=${String(paymentId)}`,
    )
    return v.parse(Requests, await answer.json()).at(-1)?.payment_request_id ?? ''
  }

  const invoke = (name: string, payload: object) =>
    post(`${urls.lambda}/2015-03-31/functions/gateway-local-${name}/invocations`, payload)

  /** Answers a refusal too. */
  const tryAct = async (action: string, payload: object) =>
    v.parse(Acted, await invoke(action, { operator: 'operator@gateway.example', ...payload }))

  const act = async (action: string, payload: object): Promise<Json> => {
    const { status, body } = await tryAct(action, payload)
    if (status !== 200) throw new Error(`${action}: ${refusalIn(body)}`)
    return body
  }

  const advance = (seconds: number) =>
    post(`${urls.lambda}/_local/clock`, { advance_seconds: seconds })

  return {
    call,
    invoke,
    tryAct,
    act,
    advance,
    /** A new merchant with a key, whose webhooks go to the inbox. */
    merchant: async (fields: object, eventTypes: readonly string[]) => {
      const { client_id } = await act('create-client', fields)
      const endpoint = { client_id, url: `${urls.inbox}/hooks`, event_types: eventTypes }
      const { endpoint_id } = await act('register-endpoint', endpoint)
      const { api_key } = await act('issue-api-key', { client_id })
      return { clientId: String(client_id), endpointId: String(endpoint_id), key: String(api_key) }
    },
    /** Pays out a recorded settlement, after the audits of the days that have passed. */
    payOut: async (settlementId: string, bankReference: string): Promise<Json> => {
      await advance(PAYABLE_AFTER_SECONDS)
      const order = { settlement_id: settlementId, bank_reference: bankReference }
      return eventually('no payout', () =>
        act('mark-settlement-paid', order).catch(() => undefined),
      )
    },
    control: async (paymentId: unknown, control: string, body: object = {}) =>
      post(
        `${urls.provider}/_simulator/payment_requests/${await requestOf(paymentId)}/${control}`,
        body,
      ),
    fault: (target: string, fault: string, value?: number) =>
      post(`${urls.provider}/_simulator/faults`, { target, fault, value, times: 1 }),
    pay: async (paymentId: unknown) =>
      post(
        `${urls.provider}/v3/payment_requests/${await requestOf(paymentId)}/simulate`,
        {},
        PROVIDER_HEADERS,
      ),
    /** Waits for a webhook of the event; with an id, for a webhook about that payment. */
    webhook: (event: string, paymentId = '') =>
      eventually(`no ${event}`, async () => {
        const webhooks = v.parse(Received, await (await send(`${urls.inbox}/received`)).json())
        return webhooks.find(
          ({ headers, body }) => headers['x-gateway-event'] === event && body.includes(paymentId),
        )
      }),
  }
}

function routeOf(operation: string) {
  const trigger = MANIFEST.find(({ name }) => name === operation)?.trigger
  if (trigger?.kind !== 'http') throw new Error(`the manifest has no HTTP route of ${operation}`)
  return trigger
}

export function refusalIn(body: unknown) {
  const refusal = v.safeParse(Refusal, body)
  if (!refusal.success) return JSON.stringify(body)
  const { message, action_hint: hint } = refusal.output
  return hint === undefined ? message : `${message} (${hint})`
}

export type LocalCaller = ReturnType<typeof localCaller>
