import { startWebhookInbox } from '../../infra/local/emulators/start-webhook-inbox.ts'
import { startLocalClock } from '../../infra/local/process/local-clock.ts'
import { jsonReply, startLocalHttpServer } from '../../infra/local/process/local-http-server.ts'
import { startProviderSimulator } from '../../infra/local/provider-simulator/provider-simulator.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY } from '../../infra/local/provider-simulator/simulator-keys.ts'
import type { Certificates } from './certificates.ts'
import { MERCHANT_ADDRESS } from './namespace.ts'
import { startNameServer } from './start-name-server.ts'
import { startTlsFront } from './start-tls-front.ts'

const PROVIDER_ADDRESS = '127.0.0.2'
export const MERCHANT_HOST = 'hooks.merchant.test'
const PROVIDER_HOST = 'api.xendit.co'
const API_HOSTS = 'execute-api.localhost'

/** What the one certificate of this world is for. */
export const CERTIFIED = [
  'IP:127.0.0.1',
  'DNS:localhost',
  `DNS:${PROVIDER_HOST}`,
  `DNS:${MERCHANT_HOST}`,
  `DNS:*.${API_HOSTS}`,
]

const ipv4 = (address: string) => ({ ipv4: address.split('.').map(Number) })
const merchantAddress = Buffer.alloc(16)
merchantAddress.writeUInt16BE(Number.parseInt(MERCHANT_ADDRESS, 16), 0)
merchantAddress.writeUInt8(1, 15)

/** Every name there is. The emulator answers at the addresses that API Gateway makes up. */
const leads = (name: string) => {
  if (name === PROVIDER_HOST) return ipv4(PROVIDER_ADDRESS)
  if (name === MERCHANT_HOST) return { ipv6: merchantAddress }
  return name === 'localhost' || name.endsWith(`.${API_HOSTS}`) ? ipv4('127.0.0.1') : undefined
}

export type OutsideWorld = {
  readonly provider: string
  readonly inbox: string
  /** The simulator's clock goes with everybody's. */
  advance(seconds: number): void
  /** Where the provider's callbacks go from now on. */
  callBack(apiUrl: string): void
  readonly secrets: {
    readonly provider: { readonly secret_key: string }
    readonly callback: { readonly callback_tokens: readonly string[] }
  }
  close(): Promise<void>
}

/** Everybody outside of AWS: name server, provider and merchant, each at its own address, the last two over TLS. */
export const startWorld = async (certificates: Certificates): Promise<OutsideWorld> => {
  await using started = new AsyncDisposableStack()
  const clock = startLocalClock()
  started.defer(() => clock.close())
  const names = await startNameServer(leads)
  started.defer(() => names.close())

  let apiUrl = ''
  // The simulator speaks plain HTTP to what is on its own machine.
  const relay = await startLocalHttpServer({
    port: 0,
    answer: async ({ method, path, headers, body }) => {
      const sent = Object.entries(headers).filter(([name]) => /^(content-type|x-|webhook-)/.test(name))
      const init = { method, body: new Uint8Array(body), headers: sent.map(([name, value]) => [name, String(value)]) }
      const answer = await fetch(`${apiUrl}${path}`, { ...init, headers: Object.fromEntries(init.headers) })
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
  const inbox = await startWebhookInbox({ port: 0, signingSecret: () => undefined, clock })
  started.defer(() => inbox.close())
  for (const [address, { url }] of [
    [PROVIDER_ADDRESS, provider],
    [MERCHANT_ADDRESS, inbox],
  ] as const) {
    const front = await startTlsFront({ ...certificates, address, behind: url })
    started.defer(() => front.close())
  }
  const running = started.move()
  return {
    provider: provider.url,
    inbox: inbox.url,
    advance: (seconds) => clock.advance(seconds),
    callBack: (url) => {
      apiUrl = url
    },
    secrets: { provider: { secret_key: PROVIDER_KEY }, callback: { callback_tokens: [CALLBACK_TOKEN] } },
    close: () => running.disposeAsync(),
  }
}
