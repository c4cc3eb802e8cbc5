import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import * as tls from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callJson, type HttpCall } from '../../../shared/provider/call-json.ts'
import {
  selfSignedCertificate,
  startTcpServer,
  startTlsServer,
  writeOnly,
} from '../../support/https-servers.ts'
import { NEVER_MS } from '../../support/patience.ts'
import {
  answerScript,
  closedUrl,
  cut,
  json,
  type Script,
  silence,
  startScriptedServer,
} from '../../support/scripted-server.ts'

const SECRET = 'xnd_production_very_secret'

function get(url: string, overrides: Partial<HttpCall> = {}) {
  return callJson({
    method: 'GET',
    url: new URL(`${url}/v3/things?token=${SECRET}`),
    headers: { authorization: `Basic ${SECRET}` },
    timeoutMs: NEVER_MS,
    ...overrides,
  })
}

async function outcomeOf(script: Script, overrides?: Partial<HttpCall>) {
  return get((await startScriptedServer(script)).url, overrides)
}

function anAnswer(status: number, body?: unknown) {
  return { kind: 'answered', status, json: body }
}
function aLoss(reason: string) {
  return { kind: 'lost', reason }
}

function* endless() {
  for (;;) yield 'x'.repeat(64 * 1024)
}

describe('callJson: an answer', () => {
  it.each<[string, Script]>([
    ['malformed JSON', (response) => response.end('{"id": 7')],
    ['no body', (response) => response.end()],
    ['more than 1 MB', json(200, { text: 'x'.repeat(1024 * 1024) })],
    ['a body without an end', (response) => Readable.from(endless()).pipe(response)],
    [
      'a body cut off half-way',
      (response) =>
        response
          .writeHead(200, { 'content-length': '100' })
          .write('{"id": 7', () => response.destroy()),
    ],
  ])('answers the status without JSON for %s', async (_case, script) => {
    expect(await outcomeOf(script)).toStrictEqual(anAnswer(200))
  })

  it('reads an answer that begins with a byte order mark', async () => {
    expect(await outcomeOf((response) => response.end('\uFEFF{"id":7}'))).toStrictEqual(
      anAnswer(200, { id: 7 }),
    )
  })

  it('reads an answer of exactly 1 MB', async () => {
    const body = { text: 'x'.repeat(1024 * 1024 - '{"text":""}'.length) }

    expect(await outcomeOf(json(200, body))).toStrictEqual(anAnswer(200, body))
  })

  it('does not follow a redirect, so that the key goes to no other address', async () => {
    const other = await startScriptedServer(json(200, {}))

    const outcome = await outcomeOf(answerScript(302, '', { location: other.url }))

    expect([outcome, other.requests]).toStrictEqual([anAnswer(302), []])
  })

  it('keeps a connection for the calls that follow, but never for longer than a second', async () => {
    const ports = new Set<number | undefined>()
    const server = await startScriptedServer((response, request) => {
      ports.add(response.socket?.remotePort)
      json(200, {})(response, request)
    })

    for (let call = 0; call < 10; call++) await get(server.url)
    const used = ports.size
    await sleep(1_200)
    await get(server.url)

    expect([used <= 2, ports.size]).toStrictEqual([true, used + 1])
  })

  // A peer that answers the first request of a connection and resets at the second (undici #5450).
  it('loses no create to a connection that is reset when it is used again', async () => {
    const used = new WeakSet<object>()
    const server = await startScriptedServer((response, request) => {
      if (response.socket && used.has(response.socket)) return response.socket.destroy()
      used.add(Object(response.socket))
      return json(200, {})(response, request)
    })
    await get(server.url)

    const created = await get(server.url, { method: 'POST', body: {}, freshConnection: true })

    expect(created).toStrictEqual(anAnswer(200, {}))
    expect(await get(server.url)).toMatchObject({ kind: 'lost' })
  })

  it('waits for an answer for as long as the deadline allows', async () => {
    const outcome = await outcomeOf((response, request) =>
      setTimeout(() => json(200, {})(response, request), 1_200),
    )

    expect(outcome).toStrictEqual(anAnswer(200, {}))
  })

  it('comes over TLS from a server with a trusted certificate, over a fresh connection if the call wants one', async () => {
    const certificate = trustedCertificate('localhost')
    let connections = 0
    const port = await startTlsServer(certificate, (socket) => {
      connections++
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'))
    })

    for (const call of [{}, { freshConnection: true }, { freshConnection: true }] as const)
      expect(await get(`https://localhost:${port}`, call)).toStrictEqual(anAnswer(200, {}))
    expect(connections).toBe(3)
  })
})

function tcpUrl(behave: (socket: Socket) => void, scheme = 'http') {
  return startTcpServer(behave).then((port) => `${scheme}://localhost:${port}`)
}
/** The certificate is trusted until the test ends. */
function trustedCertificate(name: string) {
  const before = tls.getCACertificates('default')
  const certificate = selfSignedCertificate(name)
  tls.setDefaultCACertificates([...before, certificate.cert])
  onTestFinished(() => tls.setDefaultCACertificates(before))
  return certificate
}

describe('callJson: no answer', () => {
  it.each([
    ['when the deadline passes, also with fractions', silence, 80.7, 'timeout'],
    ['when its deadline was over before', silence, -5, 'timeout'],
    ['when the connection is cut instead of an answer', cut, NEVER_MS, 'ECONNRESET'],
  ])('calls a request lost %s', async (_case, script, timeoutMs, reason) => {
    expect(await outcomeOf(script, { timeoutMs })).toStrictEqual(aLoss(reason))
  })

  it.each<[string, string, (socket: Socket) => void]>([
    [
      'a reset within the headers',
      'ECONNRESET',
      (socket) => {
        writeOnly('HTTP/1.1 200 OK\r\nX: 1')(socket)
        socket.once('data', () => setTimeout(() => socket.resetAndDestroy(), 50))
      },
    ],
    ['an answer that is no HTTP', 'HPE_INVALID_CONSTANT', writeOnly('SSH-2.0-OpenSSH_9.6\r\n')],
    [
      'more headers than any provider sends',
      'HPE_HEADER_OVERFLOW',
      writeOnly(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`),
    ],
    [
      'an answer in another protocol',
      'network error',
      writeOnly('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    ],
  ])('calls a request lost after %s', async (_case, reason, behave) => {
    expect(await get(await tcpUrl(behave))).toStrictEqual(aLoss(reason))
  })

  it('calls a request lost if the server refuses it after the handshake of TLS', async () => {
    const port = await startTlsServer(trustedCertificate('localhost'), (socket) =>
      socket.once('data', () => socket.destroy()),
    )

    expect(await get(`https://localhost:${port}`)).toStrictEqual(aLoss('ECONNRESET'))
  })

  it.each([
    [
      'a name that no name server knows',
      /^(ENOTFOUND|EAI_AGAIN)$/,
      async () => 'https://no-such-provider.invalid',
    ],
    ['an address where no server listens', /^ECONNREFUSED$/, () => closedUrl()],
    [
      'a name none of whose addresses can be reached',
      /^ECONNREFUSED$/,
      () => closedUrl('localhost'),
    ],
    [
      'a server without TLS',
      /SSL|EPROTO/,
      async () => (await startScriptedServer(silence)).url.replace('http:', 'https:'),
    ],
    [
      'a handshake of TLS that the server breaks off',
      /^ECONNRESET$/,
      () => tcpUrl((socket) => socket.once('data', () => socket.destroy()), 'https'),
    ],
  ])('calls a request not sent to %s', async (_case, reason, start) => {
    expect(await get(await start())).toStrictEqual({
      kind: 'not_sent',
      reason: expect.stringMatching(reason),
    })
  })

  it('calls a request not sent if its deadline passes before the connection is ready', async () => {
    const url = await tcpUrl(() => {}, 'https')

    expect(await get(url, { timeoutMs: 80 })).toStrictEqual({ kind: 'not_sent', reason: 'timeout' })
  })

  it.each([
    ['is untrusted', 'localhost', selfSignedCertificate, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['has another name', 'other.example', trustedCertificate, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])(
    'sends no byte of a request to a server whose certificate %s',
    async (_case, name, certificateOf, reason) => {
      const received: Buffer[] = []
      const port = await startTlsServer(certificateOf(name), (socket) =>
        socket.on('data', (bytes) => received.push(bytes)),
      )

      const outcome = await get(`https://localhost:${port}`)

      expect([outcome, received]).toStrictEqual([{ kind: 'not_sent', reason }, []])
    },
  )

  it('never throws, and never says what node refuses to send', async () => {
    const outcome = await get('http://127.0.0.1:9', { headers: { authorization: `${SECRET}\n` } })

    expect(outcome).toStrictEqual({ kind: 'not_sent', reason: 'network error' })
  })
})
