import dns from 'node:dns'
import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import type { ResolveHost } from '../../../shared/resolve-host.ts'
import { httpsWebhookSender } from '../../../shared/webhook/send/https-webhook-sender.ts'
import { selfSignedCertificate, startHttpsServer, startTcpServer } from '../../support/https-servers.ts'
import { cut, silence, startScriptedServer } from '../../support/scripted-server.ts'
import { answering, BODY, failure, SHORT, send, sendTrusting } from './webhook-sender-probe.ts'

/* The sender against real servers; no result here depends on a machine's speed. */

const tcp = async (scheme: 'http' | 'https', ...listener: Parameters<typeof startTcpServer>) =>
  `${scheme}://127.0.0.1:${await startTcpServer(...listener)}/`

const byteByByte = (socket: Socket) => {
  socket.write('HTTP/1.1 200 OK\r\n')
  const timer = setInterval(() => socket.write('X'), 20)
  socket.on('close', () => clearInterval(timer))
}
const answeringWith = (text: string) => (socket: Socket) => void socket.once('data', () => socket.end(text))

const nobodyListens = async () => {
  const server = await startScriptedServer(silence)
  await server.close()
  return server.url
}
const plainHttp = async () => (await startScriptedServer(answering(200))).url.replace('http:', 'https:')
const never: ResolveHost = () => new Promise(() => {})
const ENDLESS_HEADERS = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`
const MERCHANT = 'https://merchant.example/'

type Case = readonly [string, string, () => Promise<string>, Parameters<typeof send>[1]?]

describe('httpsWebhookSender: failures', () => {
  it.for<Case>([
    ['timeout', 'a server that never answers', async () => (await startScriptedServer(silence)).url, SHORT],
    ['timeout', 'a server that sends its headers byte by byte', () => tcp('http', byteByByte), SHORT],
    ['timeout', 'a server that never shakes hands', () => tcp('https', () => {}), SHORT],
    ['timeout', 'a name server that never answers', async () => MERCHANT, { ...SHORT, resolve: never }],
    ['connection', 'a cut before the answer', async () => (await startScriptedServer(cut)).url],
    ['connection', 'a port where nobody listens', nobodyListens],
    ['connection', 'an answer that is no HTTP', () => tcp('http', answeringWith('SSH-2.0-OpenSSH_9.6\r\n'))],
    ['connection', 'headers without end', () => tcp('http', answeringWith(ENDLESS_HEADERS))],
    ['tls', 'a handshake broken off', () => tcp('https', (socket) => socket.once('data', () => socket.destroy()))],
    ['tls', 'plain HTTP where TLS was wanted', plainHttp],
    ['dns', 'a name that does not resolve at real name servers', async () => 'https://no-such-merchant.invalid/'],
    ['dns', 'a name without addresses', async () => MERCHANT, { resolve: async () => [] }],
  ])('reports %s at %s', async ([kind, , start, options]) => {
    expect(await send(await start(), options)).toStrictEqual(failure(kind))
  })

  it('reports a certificate nobody trusts', async () => {
    const { port, hosts } = await startHttpsServer(selfSignedCertificate('localhost'))

    expect(await send(`https://localhost:${port}/`)).toStrictEqual(failure('tls'))
    expect(hosts).toStrictEqual([])
  })

  it('never throws, even for what node refuses to send', async () => {
    const sender = httpsWebhookSender({ allowLoopback: true, monotonicMs: () => 0, nowMs: () => 0 })

    const result = await sender({ url: 'http://127.0.0.1:9/', headers: { 'X-Bad': 'line\nbreak' }, body: BODY })

    expect(result).toStrictEqual({ ...failure('unknown'), durationMs: 0 })
  })
})

describe('httpsWebhookSender: where it may go', () => {
  it.each([
    'http://127.0.0.1:PORT/',
    'https://127.0.0.1:PORT/',
    'https://[::ffff:7f00:1]:PORT/',
    'https://0x7f.1:PORT/',
    'https://2130706433:PORT/',
    'https://localhost:PORT/',
    'https://user:pass@merchant.example/',
    'not a url',
  ])('refuses %s when deployed, without a connection', async (url) => {
    const server = await startScriptedServer(answering(200))

    const result = await send(url.replace('PORT', new URL(server.url).port), { allowLoopback: false })

    expect(result).toStrictEqual(failure('address_refused'))
    expect(server.requests).toStrictEqual([])
  })

  it.each([['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['169.254.169.254'], ['8.8.8.8', '::1'], ['::ffff:127.0.0.1']])(
    'refuses a name that resolves to %s, in stage local too',
    async (...addresses) => {
      const server = await startScriptedServer(answering(200))
      const resolve = vi.fn<ResolveHost>(async () =>
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      )

      const result = await send(`https://merchant.example:${new URL(server.url).port}/`, { resolve })

      expect(result).toStrictEqual(failure('address_refused'))
      expect(resolve).toHaveBeenCalledExactlyOnceWith('merchant.example')
      expect(server.requests).toStrictEqual([])
    },
  )

  it('gives the socket the checked addresses and asks nobody again', async () => {
    const server = await startScriptedServer(answering(200))
    const secondLookup = vi.spyOn(dns, 'lookup')

    const result = await send(server.url.replace('127.0.0.1', 'localhost'))

    expect(result).toMatchObject({ delivered: true })
    expect(secondLookup).not.toHaveBeenCalled()
  })

  it('honours NODE_EXTRA_CA_CERTS, and names the host to server and certificate', async () => {
    const certificate = selfSignedCertificate('localhost')
    const { port, hosts } = await startHttpsServer(certificate)

    const results = await sendTrusting(certificate, [`https://localhost:${port}/`, `https://127.0.0.1:${port}/`])

    // The certificate is for the name, so the same server by its address is a stranger.
    expect(results).toStrictEqual([
      { delivered: true, httpStatus: 200, responseBody: 'thanks', durationMs: 0 },
      { delivered: false, error: 'tls', durationMs: 0 },
    ])
    expect(hosts).toStrictEqual([{ sni: 'localhost', host: `localhost:${port}` }])
  })
})
