import { describe, expect, it } from 'vitest'
import type { LocalRequest } from '../../../infra/local/process/local-http-server.ts'
import { httpEvent } from '../../../infra/local/triggers/http-event.ts'

const aRequest = (changes: Partial<LocalRequest> = {}): LocalRequest => {
  const search = changes.search ?? ''
  return {
    method: 'GET',
    path: '/v1/payments',
    search,
    query: new URLSearchParams(search),
    headers: {},
    rawHeaders: [],
    remoteAddress: '127.0.0.1',
    body: Buffer.alloc(0),
    ...changes,
  }
}

const event = (changes: Partial<LocalRequest>) =>
  httpEvent(
    aRequest(changes),
    { routeKey: 'GET /v1/payments', pathParameters: {} },
    { requestId: 'r-1', nowMs: Date.UTC(2026, 10, 20, 4, 0, 0), domainName: '127.0.0.1:3000' },
  )

describe('the event of an HTTP request, payload format 2.0', () => {
  it('has nothing that the request does not have', () => {
    expect(event({ rawHeaders: ['User-Agent', 'curl'] })).toStrictEqual({
      version: '2.0',
      routeKey: 'GET /v1/payments',
      rawPath: '/v1/payments',
      rawQueryString: '',
      headers: { 'user-agent': 'curl' },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: '127.0.0.1:3000',
        domainPrefix: 'local',
        http: { method: 'GET', path: '/v1/payments', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'curl' },
        requestId: 'r-1',
        routeKey: 'GET /v1/payments',
        stage: '$default',
        time: '2026-11-20T04:00:00.000Z',
        timeEpoch: Date.UTC(2026, 10, 20, 4, 0, 0),
      },
      isBase64Encoded: false,
    })
  })

  it('joins repeated headers by commas, dropping none, and names them in lower case', () => {
    const { headers } = event({
      rawHeaders: ['Authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer b', 'Idempotency-Key', 'k'],
    })

    expect(headers).toStrictEqual({ authorization: 'Bearer a,Bearer b', 'idempotency-key': 'k' })
  })

  it('takes cookies out of the headers', () => {
    const { headers, cookies } = event({ rawHeaders: ['Cookie', 'a=1; b=2', 'Cookie', 'c=3'] })

    expect([headers, cookies]).toStrictEqual([{}, ['a=1', 'b=2', 'c=3']])
  })

  it('decodes the query, joins repeated names by commas and keeps it as sent beside that', () => {
    const { queryStringParameters, rawQueryString } = event({ search: 'status=a%2Fb&status=c&q=x+y&empty=' })

    expect(queryStringParameters).toStrictEqual({ status: 'a/b,c', q: 'x y', empty: '' })
    expect(rawQueryString).toBe('status=a%2Fb&status=c&q=x+y&empty=')
  })

  it('takes a query of the name __proto__ as any other', () => {
    const { queryStringParameters } = event({ search: '__proto__=1' })

    expect(Object.entries(queryStringParameters ?? {})).toStrictEqual([['__proto__', '1']])
  })

  const bytes = (text: string | number[], contentType?: string) => {
    const { body, isBase64Encoded } = event({
      body: Buffer.from(text as string),
      rawHeaders: contentType === undefined ? [] : ['Content-Type', contentType],
    })
    return { body, isBase64Encoded }
  }

  it.each([
    ['application/json', '{"a":"é"}'],
    ['application/json; charset=utf-8', '{}'],
    ['application/problem+json', '{}'],
    ['text/plain', 'hello'],
    [undefined, '{}'],
  ])('hands on a textual body (%s) as text', (contentType, body) => {
    expect(bytes(body, contentType)).toStrictEqual({ body, isBase64Encoded: false })
  })

  it.each([
    ['of another type', 'hello', 'application/octet-stream'],
    ['that is no UTF-8', [0xff, 0xfe], 'application/json'],
    ['with half a character', [0x7b, 0xc3], 'application/json'],
  ])('hands on a body %s as base64, so no byte changes', (_, body, contentType) => {
    const sent = Buffer.from(body as string)

    expect(bytes(body, contentType)).toStrictEqual({ body: sent.toString('base64'), isBase64Encoded: true })
  })

  it('keeps a byte order mark', () => {
    expect(Buffer.from(bytes([0xef, 0xbb, 0xbf, 0x7b]).body ?? '', 'utf8')).toStrictEqual(
      Buffer.from([0xef, 0xbb, 0xbf, 0x7b]),
    )
  })
})
