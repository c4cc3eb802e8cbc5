import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import type { TableKind } from '../../infra/local/emulators/local-table.ts'
import { localCaller } from '../../infra/local/local-caller.ts'
import { type LocalCloud, startLocalCloud } from '../../infra/local/local-cloud.ts'
import { undescribed } from '../support/described-answers.ts'
import { eventually } from '../support/eventually.ts'
import { isNightly } from '../support/runs.ts'
import {
  type Banner,
  type GatewayStart,
  startGatewayProcess,
} from '../support/start-gateway-process.ts'

type Json = Record<string, unknown>

type BrowserRequest = {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/**
 * Sends a request as a browser does: `fetch` would replace headers such as Host. An empty Host is
 * left out.
 */
export async function sendAsBrowser(
  url: string,
  { method = 'GET', headers = {}, body }: BrowserRequest = {},
) {
  const outgoing = request(url, {
    method,
    headers: { connection: 'close', ...headers },
    setHost: headers['host'] !== '',
  })
  outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  const [answer]: IncomingMessage[] = await once(outgoing, 'response')
  if (!answer) throw new Error('no answer')
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

export function worldAt(urls: LocalCloud['urls']) {
  const send = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init)
    const responseText = await response.text()
    const { origin, pathname: path } = new URL(url)
    if (origin === urls.api && path.startsWith('/v1/')) {
      const { status, headers } = response
      const faults = undescribed({
        method: init.method ?? 'GET',
        path,
        status,
        headers,
        text: responseText,
      })
      if (faults.length > 0)
        throw new Error(`${path}, ${status}: not as docs/openapi.yaml says: ${faults.join('; ')}`)
    }
    const body = (responseText ? JSON.parse(responseText) : {}) as Json
    return { status: response.status, headers: response.headers, text: responseText, body }
  }
  const post = (url: string, body: unknown = {}, headers: Record<string, string> = {}) =>
    send(url, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const { invoke, advance, control, fault, pay } = localCaller({ urls })

  const admin = async (action: string, payload: object = {}) =>
    (await invoke(action, payload)) as { readonly status: number; readonly body: Json }

  const withKey = (key: string) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const get = (path: string) => send(`${urls.api}${path}`, { headers })
    const create = (body: object, idempotencyKey?: string) =>
      post(`${urls.api}/v1/payments`, body, {
        ...headers,
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
      })
    const payment = async (id: string) => (await get(`/v1/payments/${id}`)).body
    const balance = async () => (await get('/v1/balance')).body
    return { key, get, create, payment, balance }
  }

  const merchant = async (endpointUrls: readonly string[] = [`${urls.inbox}/hooks`]) => {
    const operator = 'test'
    const { body: client } = await admin('create-client', { operator, name: 'Toko Uji' })
    const clientId = String(client['client_id'])
    const { body: issued } = await admin('issue-api-key', { operator, client_id: clientId })
    const endpoints: Json[] = []
    for (const url of endpointUrls) {
      const endpoint = { operator, client_id: clientId, url, event_types: ['*'] }
      endpoints.push((await admin('register-endpoint', endpoint)).body)
    }
    return { clientId, endpoints, ...withKey(String(issued['api_key'])) }
  }

  return {
    urls,
    send,
    post,
    invoke: (name: string) => invoke(name, {}),
    admin,
    withKey,
    merchant,
    advance,
    /** The provider settles, and workers read the slices that the sync hands out. */
    settleAtProvider: async (payment: () => Promise<unknown>) => {
      await advance(5 * 86_400)
      await invoke('sync-provider-transactions', {})
      await eventually(async () => expect(await payment()).toMatchObject({ fee_status: 'actual' }))
    },
    control,
    fault,
    pay,
    createCalls: async () =>
      Number(
        (await send(`${urls.provider}/_simulator/calls`)).body['POST /v3/payment_requests'] ?? 0,
      ),
    webhooksOf: async (paymentId: string) => {
      const received = await (await fetch(`${urls.inbox}/received`)).json()
      return (received as { headers: Record<string, string>; body: string }[]).filter(({ body }) =>
        body.includes(paymentId),
      )
    },
  }
}

/** The process ends with the test. */
export function spawnGateway(start?: GatewayStart) {
  const gateway = startGatewayProcess(start)
  onTestFinished(async () => void (await gateway.end('SIGKILL')))
  return gateway
}

/** As the merchant whose key the banner prints. */
export function merchantAt(banner: Banner) {
  return worldAt(banner).withKey(banner.apiKey)
}

export type Fixture = { readonly onCleanup: (end: () => Promise<void>) => void }

async function aWorld(
  { port, table }: { readonly port: number; readonly table: TableKind | undefined },
  { onCleanup }: Fixture,
) {
  const cloud = await startLocalCloud({ port, table })
  onCleanup(() => cloud.close())
  const world = worldAt(cloud.urls)
  return { cloud, demo: world.withKey(cloud.demoClient.api_key), ...world }
}

export type World = Awaited<ReturnType<typeof aWorld>>

/** Tests that share one world with other files, on free ports, with its table in memory. */
export const worldIt = it
  .extend('port', { scope: 'worker' }, 0)
  .extend('table', { scope: 'worker' }, 'memory' as TableKind | undefined)
  .extend('world', { scope: 'worker' }, aWorld)

const OWN_TABLE: TableKind | undefined = isNightly ? undefined : 'memory'

/** Tests of one file that share a world, at night with the table that Java allows. */
export const ownWorldIt = it
  .extend('port', { scope: 'file' }, 0)
  .extend('table', { scope: 'file' }, OWN_TABLE)
  .extend('world', { scope: 'file' }, aWorld)

export const VA = {
  method: 'virtual_account',
  channel_code: 'BCA',
  amount: 100_000,
  currency: 'IDR',
}
export const BANK = {
  bank_name: 'BCA',
  bank_account_no: '1234567890',
  bank_account_name: 'PT My Shop',
}
export const QRIS = { method: 'qris', amount: 100_000, currency: 'IDR' }
