import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import { startWebhookInbox } from '../../infra/local/emulators/start-webhook-inbox.ts'
import { startLocalClock } from '../../infra/local/process/local-clock.ts'
import { jsonReply, startLocalHttpServer } from '../../infra/local/process/local-http-server.ts'
import {
  CALLBACK_TOKEN,
  PROVIDER_HEADERS,
  PROVIDER_KEY,
} from '../../infra/local/provider-simulator/simulator-keys.ts'
import { startProviderSimulator } from '../../infra/local/provider-simulator/start-provider-simulator.ts'
import type { Certificates } from './certificates.ts'
import { MERCHANT_ADDRESS } from './namespace.ts'

const PROVIDER_ADDRESS = '127.0.0.2'
export const MERCHANT_HOST = 'hooks.merchant.test'
const PROVIDER_HOST = 'api.xendit.co'
const API_HOSTS = 'execute-api.localhost'

export const CERTIFIED = [
  'IP:127.0.0.1',
  'DNS:localhost',
  `DNS:${PROVIDER_HOST}`,
  `DNS:${MERCHANT_HOST}`,
  `DNS:*.${API_HOSTS}`,
]

const merchantAddress = Buffer.alloc(16)
merchantAddress.writeUInt16BE(Number.parseInt(MERCHANT_ADDRESS, 16), 0)
merchantAddress.writeUInt8(1, 15)

export async function startWorld(certificates: Certificates) {
  await using started = new AsyncDisposableStack()
  const clock = startLocalClock()
  started.defer(() => clock.close())
  const names = await startNameServer()
  started.defer(() => void names.close())

  let apiUrl = ''
  // The last key that was not refused: a worker may ask once more with an old key.
  const dashboard = { keys: [PROVIDER_KEY], token: CALLBACK_TOKEN, lastKey: '' }
  // The simulator speaks plain HTTP to servers on its own machine.
  const relay = await startLocalHttpServer({
    port: 0,
    answer: async ({ path, headers, body }) => {
      const shown = { ...headers, 'x-callback-token': dashboard.token }
      const sent = Object.entries(shown).filter(([name]) =>
        /^(content-type|x-|webhook-)/.test(name),
      )
      const passed = Object.fromEntries(sent.map(([name, value]) => [name, String(value)]))
      const answer = await fetch(`${apiUrl}${path}`, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: passed,
      })
      return jsonReply(answer.status, await answer.json())
    },
  })
  started.defer(() => relay.close())
  const provider = await startProviderSimulator({
    clock,
    port: 0,
    secretKey: PROVIDER_KEY,
    callbackUrl: () => `${relay.url}/callbacks/xendit`,
    callbackToken: CALLBACK_TOKEN,
  })
  started.defer(() => provider.close())
  const inbox = await startWebhookInbox({
    port: 0,
    secrets: { ofDemo: () => undefined, ofDelivery: async () => undefined },
    clock,
  })
  started.defer(() => inbox.close())
  // The simulator has one key. Calls with any key of the dashboard reach it with that key.
  const byKey = (authorization = '') => {
    const key = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
      .toString()
      .replace(/:$/, '')
    if (!dashboard.keys.includes(key)) return 'none'
    dashboard.lastKey = key
    return PROVIDER_HEADERS.authorization
  }
  for (const [address, target, authorized] of [
    [PROVIDER_ADDRESS, provider.url, byKey],
    [MERCHANT_ADDRESS, inbox.url, undefined],
  ] as const) {
    const server = await startTlsFront(certificates, address, target, authorized)
    started.defer(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  const running = started.move()
  return {
    provider: provider.url,
    inbox: inbox.url,
    advance: (seconds: number) => clock.advance(seconds),
    callBack: (url: string) => void (apiUrl = url),
    dashboard,
    close: () => running.disposeAsync(),
  }
}

export type OutsideWorld = Awaited<ReturnType<typeof startWorld>>

/** May replace the authorization. */
async function startTlsFront(
  { certificate, key }: Certificates,
  address: string,
  target: string,
  authorized: ((authorization: string | undefined) => string) | undefined,
) {
  const tls = { cert: readFileSync(certificate), key: readFileSync(key) }
  const { host } = new URL(target)
  const server = createServer(tls, (incoming, response) => {
    const { method, url, headers } = incoming
    const shown = {
      ...headers,
      host,
      ...(authorized && { authorization: authorized(headers.authorization) }),
    }
    const passed = request(new URL(url ?? '/', target), { method, headers: shown }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    // When the server cuts its connection, the caller's is cut too.
    passed.on('error', () => response.destroy())
    incoming.pipe(passed)
  })
  server.listen(443, address)
  await once(server, 'listening')
  return server
}

const IPV4 = 1
const IPV6 = 28
const HEADER_BYTES = 12

/** Answers on 127.0.0.1:53 with one address at most. A name without an address does not exist. */
async function startNameServer() {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query), port, address))
  socket.bind(53, '127.0.0.1')
  await once(socket, 'listening')
  return { close: () => socket.close() }
}

function answerTo(query: Buffer) {
  const { name, end } = nameIn(query)
  // After the name in a question: its type and its class.
  const question = query.subarray(HEADER_BYTES, end + 4)
  const found: { ipv4?: readonly number[]; ipv6?: Buffer } | undefined = addressOf(name)
  const type = query.readUInt16BE(end)
  const address = type === IPV4 ? found?.ipv4 : type === IPV6 ? found?.ipv6 : undefined
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(query.readUInt16BE(0), 0)
  // An authoritative answer with recursion; 3: there is no such name.
  header.writeUInt16BE(0x8580 | (found ? 0 : 3), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(address ? 1 : 0, 6)
  if (!address) return Buffer.concat([header, question])
  // The name again by a pointer to the question; class IN, for a minute.
  const about = Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length])
  return Buffer.concat([header, question, about, Buffer.from(address)])
}

function nameIn(query: Buffer) {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** The emulator answers at the names that API Gateway makes. */
function addressOf(name: string) {
  if (name === PROVIDER_HOST) return ipv4(PROVIDER_ADDRESS)
  if (name === MERCHANT_HOST) return { ipv6: merchantAddress }
  return name === 'localhost' || name.endsWith(`.${API_HOSTS}`) ? ipv4('127.0.0.1') : undefined
}

function ipv4(address: string) {
  return { ipv4: address.split('.').map(Number) }
}
