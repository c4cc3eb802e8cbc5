import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import type { ResolvedAddress, ResolveHost } from '../../../shared/send-webhook.ts'
import { postWebhook } from '../../../shared/webhook/send/https-webhook-sender.ts'
import { eventually } from '../../support/eventually.ts'
import { listen, selfSignedCertificate, startTcpServer } from '../../support/https-servers.ts'
import { cut, silence, startScriptedServer } from '../../support/scripted-server.ts'
import { answering, BODY, PATIENT, SHORT, send, sendTrusting } from './webhook-sender-probe.ts'

/* The sender against real servers; no result here depends on a machine's speed. */

async function tcp(scheme: 'http' | 'https', ...listener: Parameters<typeof startTcpServer>) {
  return `${scheme}://127.0.0.1:${await startTcpServer(...listener)}/`
}

/** Answers 200 over TLS; `hosts` are the names it was asked for, by SNI and by header. */
async function startHttpsServer({ key, cert }: ReturnType<typeof selfSignedCertificate>) {
  const hosts: { readonly sni: unknown; readonly host: string | undefined }[] = []
  const server = createServer({ key, cert }, (request, response) => {
    hosts.push({ sni: Reflect.get(request.socket, 'servername'), host: request.headers.host })
    response.end('thanks')
  })
  server.on('tlsClientError', () => {})
  return { port: await listen(server), hosts }
}

function answeringWith(text: string) {
  return (socket: Socket) => void socket.once('data', () => socket.end(text))
}
const PARTLY = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartly'
function byteByByte(socket: Socket) {
  socket.write('HTTP/1.1 200 OK\r\n')
  const timer = setInterval(() => socket.write('X'), 20)
  socket.on('close', () => clearInterval(timer))
}

it('httpsWebhookSender posts the given bytes and headers, and waits ten seconds for the status and one for the body', async () => {
  const server = await startScriptedServer(answering(200, 'thanks'))
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
  const given = { 'content-type': 'application/json', 'x-gateway-event': 'payment.succeeded' }
  const own = {
    'user-agent': 'gateway-webhooks/1',
    accept: '*/*',
    connection: 'close',
    host: new URL(server.url).host,
  }
  expect(server.requests[0]?.headers).toStrictEqual({
    ...given,
    ...own,
    'content-length': String(BODY.length),
  })
  expect([deadline.mock.calls, grace.mock.calls.map(([, ms]) => ms)]).toStrictEqual([
    [[10_000]],
    [1_000],
  ])
})
describe('httpsWebhookSender: what counts as delivered (spec 6.4)', () => {
  it.each([200, 201, 202, 204, 299])('counts %i as delivered', async (httpStatus) => {
    const server = await startScriptedServer(answering(httpStatus))

    expect(await send(server.url)).toStrictEqual({ httpStatus, responseBody: '' })
  })

  it.each([300, 302, 307, 400, 401, 404, 410, 429, 500, 503])(
    'counts %i as failed, without redirects',
    async (is) => {
      const server = await startScriptedServer(answering(is, 'no', { location: '/elsewhere' }))

      expect(await send(server.url)).toStrictEqual({
        httpStatus: is,
        error: 'http_status',
        responseBody: 'no',
      })
      expect(server.requests).toHaveLength(1)
    },
  )

  it('counts an unrequested upgrade by its status', async () => {
    const url = await tcp(
      'http',
      answeringWith('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    )

    expect(await send(url)).toMatchObject({ error: 'http_status', httpStatus: 101 })
  })
})

describe('httpsWebhookSender: the answer body (first 1 KB)', () => {
  it('keeps the first 1,024 bytes of a huge answer and stops reading', async () => {
    const server = await startScriptedServer((response) => {
      response.writeHead(500)
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', flood)
      response.write('x')
      setTimeout(flood, 50)
    })

    expect((await send(server.url)).responseBody).toBe('x'.repeat(1_024))
  })

  it.each(['é', '☕', '🍵'])('drops a character that the limit splits: %s', async (character) => {
    const text = 'x'.repeat(1_025 - Buffer.byteLength(character))
    const server = await startScriptedServer(answering(200, `${text}${character}tail`))

    expect((await send(server.url)).responseBody).toBe(text)
  })

  it('stores bytes that are not text as replacement characters', async () => {
    const server = await startScriptedServer(answering(200, Buffer.from([0xff, 0x41])))

    expect(await send(server.url)).toStrictEqual({ httpStatus: 200, responseBody: '\uFFFDA' })
  })

  const stalls = (socket: Socket) => void socket.once('data', () => socket.write(PARTLY))
  it.each([
    ['stalls, at the end of its grace', stalls, { bodyGraceMs: 200 }],
    ['ends with its connection', answeringWith(PARTLY), {}],
  ])(
    'counts a 2xx as delivered if its body %s, and stores the received part',
    async (_, behave, options) => {
      expect(await send(await tcp('http', behave), options)).toStrictEqual({
        httpStatus: 200,
        responseBody: 'partly',
      })
    },
  )

  it('counts a 2xx as delivered if its body stalls, at the deadline, and stores the received part', async () => {
    const deadline = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal)
    const timers = vi.spyOn(globalThis, 'setTimeout')

    const sending = send(await tcp('http', stalls))
    // The grace begins when the status has arrived.
    await eventually(() =>
      expect(timers).toHaveBeenCalledWith(expect.any(Function), PATIENT.bodyGraceMs),
    )
    deadline.abort()

    expect(await sending).toStrictEqual({ httpStatus: 200, responseBody: 'partly' })
  })
})

async function nobodyListens() {
  const server = await startScriptedServer(silence)
  await server.close()
  return server.url
}
async function plainHttp() {
  return (await startScriptedServer(answering(200))).url.replace('http:', 'https:')
}
async function untrusted() {
  return `https://localhost:${(await startHttpsServer(selfSignedCertificate('localhost'))).port}/`
}
function never(): Promise<readonly ResolvedAddress[]> {
  return new Promise(() => {})
}
const ENDLESS_HEADERS = `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`
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
      () => tcp('http', byteByByte),
      SHORT,
    ],
    ['timeout', 'a server that never shakes hands', () => tcp('https', () => {}), SHORT],
    [
      'timeout',
      'a name server that never answers',
      async () => MERCHANT,
      { ...SHORT, resolve: never },
    ],
    ['connection', 'a cut before the answer', async () => (await startScriptedServer(cut)).url],
    ['connection', 'a port where no server listens', nobodyListens],
    [
      'connection',
      'the same over TLS',
      async () => (await nobodyListens()).replace('http:', 'https:'),
    ],
    [
      'connection',
      'an answer that is no HTTP',
      () => tcp('http', answeringWith('SSH-2.0-OpenSSH_9.6\r\n')),
    ],
    ['connection', 'headers without end', () => tcp('http', answeringWith(ENDLESS_HEADERS))],
    [
      'tls',
      'a handshake broken off',
      () => tcp('https', (socket) => socket.once('data', () => socket.destroy())),
    ],
    ['tls', 'plain HTTP where TLS was wanted', plainHttp],
    ['tls', 'an untrusted certificate', untrusted],
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
  // Every other form of an address: safe-url.test.ts.
  it.each(['http://127.0.0.1:PORT/', 'not a url'])(
    'refuses %s when deployed, without a connection',
    async (url) => {
      const server = await startScriptedServer(answering(200))

      const result = await send(url.replace('PORT', new URL(server.url).port), {
        allowLoopbackWebhooks: false,
      })

      expect(result).toStrictEqual({ error: 'address_refused' })
      expect(server.requests).toStrictEqual([])
    },
  )

  it('refuses a name that resolves to a loopback address, in stage local too', async () => {
    const server = await startScriptedServer(answering(200))
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
    ['tries no fifth one', 4, { error: 'connection' }],
  ])('%s', async (_, refusing, outcome) => {
    const server = await startScriptedServer(answering(200))
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

  it('honours NODE_EXTRA_CA_CERTS, and names the host to server and certificate', async () => {
    const certificate = selfSignedCertificate('localhost')
    const { port, hosts } = await startHttpsServer(certificate)

    const results = await sendTrusting(certificate, [
      `https://localhost:${port}/`,
      `https://127.0.0.1:${port}/`,
    ])

    // The certificate is for the name, so the same server by its address is a stranger.
    expect(results).toStrictEqual([
      { httpStatus: 200, responseBody: 'thanks', durationMs: 0 },
      { error: 'tls', durationMs: 0 },
    ])
    expect(hosts).toStrictEqual([{ sni: 'localhost', host: `localhost:${port}` }])
  })
})
