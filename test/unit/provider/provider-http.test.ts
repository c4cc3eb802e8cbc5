import { afterEach, describe, expect, it, vi } from 'vitest'
import { callJson, type HttpCall } from '../../../shared/provider/xendit/call-json.ts'
import { cut, json, type Script, silence, startScriptedServer } from '../../support/scripted-server.ts'

const SECRET = 'xnd_production_very_secret'

const get = (url: string, overrides: Partial<HttpCall> = {}) =>
  callJson({
    method: 'GET',
    url: new URL(`${url}/v3/things?token=${SECRET}`),
    headers: { authorization: `Basic ${SECRET}` },
    timeoutMs: 5_000,
    ...overrides,
  })

const outcomeOf = async (script: Script, overrides?: Partial<HttpCall>) =>
  get((await startScriptedServer(script)).url, overrides)

const failing = (cause: unknown) => {
  vi.stubGlobal('fetch', async () => {
    throw new TypeError('fetch failed', { cause })
  })
  return get('http://127.0.0.1:1')
}
const systemError = (code: string, syscall?: string) => Object.assign(new Error(`${code} ${SECRET}`), { code, syscall })

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('callJson: an answer', () => {
  it('sends method, headers and JSON body, and answers status and JSON', async () => {
    const server = await startScriptedServer(json(201, { id: 7 }))

    const outcome = await get(server.url, { method: 'POST', body: { amount: 10_000, name: 'Kopi Ú' } })

    expect(outcome).toStrictEqual({ kind: 'answered', status: 201, json: { id: 7 } })
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: `/v3/things?token=${SECRET}`,
        headers: { authorization: `Basic ${SECRET}`, 'content-type': 'application/json', accept: 'application/json' },
        body: '{"amount":10000,"name":"Kopi Ú"}',
      },
    ])
  })

  it('sends neither body nor content type when there is no body', async () => {
    const server = await startScriptedServer(json(200, {}))

    await get(server.url, { method: 'POST' })

    expect(server.requests[0]?.body).toBe('')
    expect(server.requests[0]?.headers['content-type']).toBeUndefined()
  })

  it.each([400, 404, 429, 500, 503])('answers status %i like any other', async (status) => {
    const outcome = await outcomeOf(json(status, { error_code: 'X' }))

    expect(outcome).toStrictEqual({ kind: 'answered', status, json: { error_code: 'X' } })
  })

  it.each<[string, Script]>([
    ['malformed JSON', (response) => response.end('{"id": 7')],
    ['HTML', (response) => response.end('<html>Bad gateway</html>')],
    ['no body', (response) => response.end()],
    ['more than 1 MB', (response) => response.end(JSON.stringify({ text: 'x'.repeat(1024 * 1024) }))],
    [
      'a body cut off half-way',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"id": 7', () => response.destroy())
      },
    ],
  ])('answers the status without JSON for %s', async (_, script) => {
    const outcome = await outcomeOf(script)

    expect(outcome).toStrictEqual({ kind: 'answered', status: 200, json: undefined })
  })

  it('stops reading an endless answer', async () => {
    const outcome = await outcomeOf((response) => {
      const chunk = 'x'.repeat(64 * 1024)
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', more)
      more()
    })

    expect(outcome).toStrictEqual({ kind: 'answered', status: 200, json: undefined })
  })

  it('reads an answer of exactly 1 MB', async () => {
    const text = 'x'.repeat(1024 * 1024 - '{"text":""}'.length)

    const outcome = await outcomeOf(json(200, { text }))

    expect(outcome).toStrictEqual({ kind: 'answered', status: 200, json: { text } })
  })

  it('does not follow a redirect, so that the key goes to no other address', async () => {
    const other = await startScriptedServer(json(200, {}))

    const outcome = await outcomeOf((response) => response.writeHead(302, { location: other.url }).end())

    expect(outcome).toStrictEqual({ kind: 'answered', status: 302, json: undefined })
    expect(other.requests).toStrictEqual([])
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
  it('calls a request lost when the deadline passes, also one with fractions', async () => {
    const outcome = await outcomeOf(silence, { timeoutMs: 80.7 })

    expect(outcome).toStrictEqual({ kind: 'lost', reason: 'timeout' })
  })

  it('calls a request lost when its deadline was over before', async () => {
    const outcome = await outcomeOf(silence, { timeoutMs: -5 })

    expect(outcome).toStrictEqual({ kind: 'lost', reason: 'timeout' })
  })

  it('ends an answer that stalls in its body at the same deadline', async () => {
    const outcome = await outcomeOf(
      (response) => {
        response.writeHead(201).write('{"id":')
      },
      { timeoutMs: 100 },
    )

    expect(outcome).toStrictEqual({ kind: 'answered', status: 201, json: undefined })
  })

  it('calls a request lost when the connection is cut instead of an answer', async () => {
    const outcome = await outcomeOf(cut)

    expect(outcome).toStrictEqual({ kind: 'lost', reason: 'UND_ERR_SOCKET' })
  })

  it('calls a request not sent when nobody listens', async () => {
    const server = await startScriptedServer(silence)
    await server.close()

    const outcome = await get(server.url)

    expect(outcome).toStrictEqual({ kind: 'not_sent', reason: 'ECONNREFUSED' })
  })

  it.each([
    ['ENOTFOUND', 'getaddrinfo'],
    ['EAI_AGAIN', 'getaddrinfo'],
    ['ECONNREFUSED', 'connect'],
    ['ETIMEDOUT', 'connect'],
    ['ENETUNREACH', 'connect'],
    ['UND_ERR_CONNECT_TIMEOUT', undefined],
    ['CERT_HAS_EXPIRED', undefined],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', undefined],
    ['ERR_TLS_CERT_ALTNAME_INVALID', undefined],
  ])('calls a request not sent after %s of %s', async (code, syscall) => {
    expect(await failing(systemError(code, syscall))).toStrictEqual({ kind: 'not_sent', reason: code })
  })

  it.each([
    ['ECONNRESET', 'read'],
    ['EPIPE', 'write'],
    ['ETIMEDOUT', 'read'],
    ['UND_ERR_SOCKET', undefined],
    ['UND_ERR_HEADERS_TIMEOUT', undefined],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', undefined],
  ])('calls a request lost after %s of %s', async (code, syscall) => {
    expect(await failing(systemError(code, syscall))).toStrictEqual({ kind: 'lost', reason: code })
  })

  it('calls a request not sent only if no address of the host could be reached', async () => {
    const refused = systemError('ECONNREFUSED', 'connect')

    const none = await failing(new AggregateError([refused, systemError('ENETUNREACH', 'connect')]))
    const one = await failing(new AggregateError([refused, systemError('ECONNRESET', 'read')]))

    expect([none.kind, one.kind]).toStrictEqual(['not_sent', 'lost'])
  })

  it('calls a request lost when the failure says nothing at all', async () => {
    expect(await failing(undefined)).toStrictEqual({ kind: 'lost', reason: 'network error' })
    expect(await failing(new AggregateError([]))).toStrictEqual({ kind: 'lost', reason: 'network error' })
  })
})
