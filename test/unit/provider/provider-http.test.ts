import { Readable } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callJson, type HttpCall } from '../../../shared/provider/call-json.ts'
import { NEVER_MS } from '../../support/patience.ts'
import {
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

function rejectWith(error: unknown) {
  vi.stubGlobal('fetch', async () => Promise.reject(error))
  return get('http://127.0.0.1:1')
}
function failWith(cause: unknown) {
  return rejectWith(new TypeError('fetch failed', { cause }))
}
function systemError(code: string, syscall?: string) {
  return Object.assign(new Error(`${code} ${SECRET}`), { code, syscall })
}

afterEach(() => void vi.unstubAllGlobals())

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
    ['HTML', (response) => response.end('<html>Bad gateway</html>')],
    ['no body', (response) => response.end()],
    [
      'more than 1 MB',
      (response) => response.end(JSON.stringify({ text: 'x'.repeat(1024 * 1024) })),
    ],
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

  it('reads an answer of exactly 1 MB', async () => {
    const body = { text: 'x'.repeat(1024 * 1024 - '{"text":""}'.length) }

    expect(await outcomeOf(json(200, body))).toStrictEqual(anAnswer(200, body))
  })

  it('does not follow a redirect, so that the key goes to no other address', async () => {
    const other = await startScriptedServer(json(200, {}))

    const outcome = await outcomeOf((response) =>
      response.writeHead(302, { location: other.url }).end(),
    )

    expect([outcome, other.requests]).toStrictEqual([anAnswer(302), []])
  })

  it('keeps connections for the calls that follow', async () => {
    const ports = new Set<number | undefined>()
    const server = await startScriptedServer((response, request) => {
      ports.add(response.socket?.remotePort)
      json(200, {})(response, request)
    })

    for (let call = 0; call < 10; call++) await get(server.url)

    expect(ports.size).toBeLessThanOrEqual(2)
  })
})

describe('callJson: no answer', () => {
  it.each([
    ['when the deadline passes, also with fractions', silence, 80.7, 'timeout'],
    ['when its deadline was over before', silence, -5, 'timeout'],
    ['when the connection is cut instead of an answer', cut, NEVER_MS, 'UND_ERR_SOCKET'],
  ])('calls a request lost %s', async (_case, script, timeoutMs, reason) => {
    expect(await outcomeOf(script, { timeoutMs })).toStrictEqual(aLoss(reason))
  })

  const NO_TLS = ['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID']

  it.each([
    ['not_sent', 'getaddrinfo', ['ENOTFOUND', 'EAI_AGAIN']],
    ['not_sent', 'connect', ['ECONNREFUSED', 'ETIMEDOUT', 'ENETUNREACH']],
    ['not_sent', undefined, ['UND_ERR_CONNECT_TIMEOUT', ...NO_TLS]],
    ['lost', 'read', ['ECONNRESET', 'ETIMEDOUT']],
    ['lost', 'write', ['EPIPE']],
    [
      'lost',
      undefined,
      ['UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE'],
    ],
  ])(
    'calls a request %s after the failure of %s with any of %j',
    async (kind, syscall, reasons) => {
      for (const reason of reasons)
        expect(await failWith(systemError(reason, syscall))).toStrictEqual({ kind, reason })
    },
  )

  it('calls a request not sent only if no address of the host could be reached', async () => {
    const refused = systemError('ECONNREFUSED', 'connect')

    const allRefused = await failWith(
      new AggregateError([refused, systemError('ENETUNREACH', 'connect')]),
    )
    const oneReset = await failWith(
      new AggregateError([refused, systemError('ECONNRESET', 'read')]),
    )

    expect([allRefused.kind, oneReset.kind]).toStrictEqual(['not_sent', 'lost'])
  })

  it.each([undefined, { code: 7 }, new AggregateError([])])(
    'calls a request lost if it fails by %o',
    async (cause) => {
      expect(await failWith(cause)).toStrictEqual(aLoss('network error'))
      expect(await rejectWith(cause)).toStrictEqual(aLoss('network error'))
    },
  )
})
