import { Resolver } from 'node:dns/promises'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import type { ResolvedAddress, ResolveHost } from '../../../shared/send-webhook.ts'
import { postWebhook, resolveByDns } from '../../../shared/webhook/send/https-webhook-sender.ts'
import { listen, selfSignedCertificate } from '../../support/https-servers.ts'
import {
  answerScript,
  closedUrl,
  cut,
  silence,
  startScriptedServer,
} from '../../support/scripted-server.ts'
import { projectText } from '../../support/source-file.ts'
import {
  answerWith,
  BODY,
  PATIENT,
  SHORT,
  send,
  sendTrusting,
  tcpUrl,
} from './webhook-sender-probe.ts'

/* The sender against real servers; no result here depends on a machine's speed. */

/** Answers 200 over TLS; `hosts` are the names that requests gave, by SNI and by header. */
async function startHttpsServer({ key, cert }: ReturnType<typeof selfSignedCertificate>) {
  const hosts: { readonly sni: unknown; readonly host: string | undefined }[] = []
  const server = createServer({ key, cert }, (request, response) => {
    hosts.push({ sni: Reflect.get(request.socket, 'servername'), host: request.headers.host })
    response.end('thanks')
  })
  server.on('tlsClientError', () => {})
  return { port: await listen(server), hosts }
}
function answerByteByByte(socket: Socket) {
  socket.write('HTTP/1.1 200 OK\r\n')
  const timer = setInterval(() => socket.write('X'), 20)
  socket.on('close', () => clearInterval(timer))
}

it('httpsWebhookSender posts the given bytes and headers, and waits ten seconds for the status and one second for the body', async () => {
  const server = await startScriptedServer(answerScript(200, 'thanks'))
  const deadline = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal)
  const grace = vi.spyOn(globalThis, 'setTimeout')

  const result = await send(`${server.url}/hooks?shop=1#part`, {
    deadlineMs: undefined,
    bodyGraceMs: undefined,
  })

  expect(result).toStrictEqual({ httpStatus: 200, responseBody: 'thanks' })
  expect(server.requests).toHaveLength(1)
  expect(server.requests[0]).toMatchObject({
    method: 'POST',
    url: '/hooks?shop=1',
    body: BODY.toString('utf8'),
  })
  const ownHeaders = {
    'user-agent': 'gateway-webhooks/1',
    accept: '*/*',
    connection: 'close',
    host: new URL(server.url).host,
  }
  expect(server.requests[0]?.headers).toStrictEqual({
    'content-type': 'application/json',
    'x-gateway-event': 'payment.succeeded',
    ...ownHeaders,
    'content-length': String(BODY.length),
  })
  expect(deadline.mock.calls).toStrictEqual([[10_000]])
  const page = projectText('docs/merchants/webhooks.md')
  expect(page).toContain(`| \`User-Agent\` | \`${ownHeaders['user-agent']}\``)
  // The fetch of an earlier test in this process may set timers of its own meanwhile.
  expect(grace.mock.calls.map(([, ms]) => ms)).toContain(1_000)
})
describe('httpsWebhookSender: what counts as delivered (spec 6.4)', () => {
  it.each([200, 201, 202, 204, 299])('counts %i as delivered', async (httpStatus) => {
    const server = await startScriptedServer(answerScript(httpStatus))

    expect(await send(server.url)).toStrictEqual({ httpStatus, responseBody: '' })
  })

  it.each([300, 302, 307, 400, 401, 404, 410, 429, 500, 503])(
    'counts %i as failed, without redirects',
    async (httpStatus) => {
      const server = await startScriptedServer(
        answerScript(httpStatus, 'no', { location: '/elsewhere' }),
      )

      expect(await send(server.url)).toStrictEqual({
        httpStatus,
        error: 'http_status',
        responseBody: 'no',
      })
      expect(server.requests).toHaveLength(1)
    },
  )

  it('counts an unrequested upgrade by its status', async () => {
    const url = await tcpUrl(
      'http',
      answerWith('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    )

    expect(await send(url)).toMatchObject({ error: 'http_status', httpStatus: 101 })
  })
})

async function plainHttpUrl() {
  return (await startScriptedServer(answerScript(200))).url.replace('http:', 'https:')
}
async function untrustedUrl() {
  return `https://localhost:${(await startHttpsServer(selfSignedCertificate('localhost'))).port}/`
}
function neverResolve(): Promise<readonly ResolvedAddress[]> {
  return new Promise(() => {})
}
const MERCHANT = 'https://merchant.example/'

type Case = readonly [string, string, () => Promise<string>, Parameters<typeof send>[1]?]

describe('httpsWebhookSender: failures', () => {
  it.for<Case>([
    [
      'timeout',
      'a server that never answers',
      async () => (await startScriptedServer(silence)).url,
      SHORT,
    ],
    [
      'timeout',
      'a server that sends its headers byte by byte',
      () => tcpUrl('http', answerByteByByte),
      SHORT,
    ],
    ['timeout', 'a server that never shakes hands', () => tcpUrl('https', () => {}), SHORT],
    [
      'timeout',
      'a name server that never answers',
      async () => MERCHANT,
      { ...SHORT, resolve: neverResolve },
    ],
    ['connection', 'a cut before the answer', async () => (await startScriptedServer(cut)).url],
    ['connection', 'a port where no server listens', () => closedUrl()],
    [
      'connection',
      'a port where no server listens, over TLS',
      async () => (await closedUrl()).replace('http:', 'https:'),
    ],
    [
      'connection',
      'an answer that is no HTTP',
      () => tcpUrl('http', answerWith('SSH-2.0-OpenSSH_9.6\r\n')),
    ],
    [
      'tls',
      'a handshake broken off',
      () => tcpUrl('https', (socket) => socket.once('data', () => socket.destroy())),
    ],
    ['tls', 'plain HTTP where TLS was wanted', plainHttpUrl],
    ['tls', 'an untrusted certificate', untrustedUrl],
    [
      'dns',
      'a name that does not resolve at real name servers',
      async () => 'https://no-such-merchant.invalid/',
    ],
    ['dns', 'a name without addresses', async () => MERCHANT, { resolve: async () => [] }],
  ])('reports %s at %s', async ([kind, , start, options]) => {
    expect(await send(await start(), options)).toStrictEqual({ error: kind })
  })

  it('never throws, even for headers that node refuses to send', async () => {
    expect(await send('http://127.0.0.1:9/', {}, { 'X-Bad': 'line\nbreak' })).toStrictEqual({
      error: 'unknown',
    })
  })
})

describe('httpsWebhookSender: allowed addresses', () => {
  // safe-url.test.ts tests every other form of an address.
  it.each(['http://127.0.0.1:PORT/', 'not a url'])(
    'refuses %s when deployed, without a connection',
    async (url) => {
      const server = await startScriptedServer(answerScript(200))

      const result = await send(url.replace('PORT', new URL(server.url).port), {
        allowLoopbackWebhooks: false,
      })

      expect(result).toStrictEqual({ error: 'address_refused' })
      expect(server.requests).toStrictEqual([])
    },
  )

  it('refuses a name that resolves to a loopback address, in stage local too', async () => {
    const server = await startScriptedServer(answerScript(200))
    const resolve = vi.fn<ResolveHost>(async () => [{ address: '127.0.0.1', family: 4 }])

    const result = await send(`https://merchant.example:${new URL(server.url).port}/`, { resolve })

    expect(result).toStrictEqual({ error: 'address_refused' })
    expect(resolve).toHaveBeenCalledExactlyOnceWith('merchant.example')
    expect(server.requests).toStrictEqual([])
  })

  it.each([
    [
      'takes the fourth of its checked addresses, and asks no resolver',
      3,
      { httpStatus: 200, responseBody: '' },
    ],
    ['tries no fifth address', 4, { error: 'connection' }],
  ])('%s', async (_, refusing, outcome) => {
    const server = await startScriptedServer(answerScript(200))
    const addresses = [...Array<string>(refusing).fill('127.0.0.2'), '127.0.0.1']
    const request = {
      target: new URL(server.url.replace('127.0.0.1', 'merchant.example')),
      addresses: addresses.map((address) => ({ address, family: 4 as const })),
      headers: {},
      body: BODY,
    }

    expect(
      await postWebhook(request, new AbortController().signal, PATIENT.bodyGraceMs),
    ).toStrictEqual(outcome)
  })

  it('asks for both families of addresses, and needs one of them', async () => {
    vi.spyOn(Resolver.prototype, 'resolve4').mockResolvedValue(['192.0.2.1'])
    const six = vi.spyOn(Resolver.prototype, 'resolve6').mockResolvedValueOnce(['2001:db8::1'])
    six.mockRejectedValue(new Error('ENODATA'))

    const answers = [await resolveByDns('a.example'), await resolveByDns('a.example')]

    const four = { address: '192.0.2.1', family: 4 }
    expect(answers).toStrictEqual([[four, { address: '2001:db8::1', family: 6 }], [four]])
  })

  it('honours NODE_EXTRA_CA_CERTS, and names the host to server and certificate', async () => {
    const certificate = selfSignedCertificate('localhost')
    const { port, hosts } = await startHttpsServer(certificate)

    const results = await sendTrusting(certificate, [
      `https://localhost:${port}/`,
      `https://127.0.0.1:${port}/`,
    ])

    // The certificate holds for the name, so TLS refuses the same server under its address.
    expect(results).toStrictEqual([
      { httpStatus: 200, responseBody: 'thanks', durationMs: 0 },
      { error: 'tls', durationMs: 0 },
    ])
    expect(hosts).toStrictEqual([{ sni: 'localhost', host: `localhost:${port}` }])
  })
})
