import { describe, expect, it, vi } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type LocalRequest, startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'
import { httpEvent } from '../../../infra/local/triggers/http-event.ts'
import { functionRoutes } from '../../../infra/local/triggers/start-http-gateway.ts'

const event = ({ search = '', ...changes }: Partial<LocalRequest>) =>
  httpEvent(
    {
      method: 'GET',
      path: '/v1/payments',
      search,
      query: new URLSearchParams(search),
      headers: {},
      rawHeaders: [],
      remoteAddress: '127.0.0.1',
      body: Buffer.alloc(0),
      ...changes,
    },
    { routeKey: 'GET /v1/payments', pathParameters: {} },
    { requestId: 'r-1', nowMs: 0, domainName: '127.0.0.1:3000' },
  )

// Bodies that are no text: `api-create-payment-refusals.test.ts`, whose requests are made here too.
it('the event of an HTTP request (payload format 2.0) joins what is repeated by commas, and has the query decoded too', () => {
  const repeated = ['Authorization', 'Bearer a', 'AUTHORIZATION', 'Bearer b', 'Idempotency-Key', 'k']
  const rawHeaders = [...repeated, 'Cookie', 'a=1; b=2', 'Cookie', 'c=3']
  const search = 'status=a%2Fb&status=c&q=x+y&empty=&__proto__=1'

  const { headers, cookies, queryStringParameters = {}, rawQueryString } = event({ rawHeaders, search })

  expect(headers).toStrictEqual({ authorization: 'Bearer a,Bearer b', 'idempotency-key': 'k' })
  expect(cookies).toStrictEqual(['a=1', 'b=2', 'c=3'])
  const query = { status: 'a/b,c', q: 'x y', empty: '', ['__proto__']: '1' }
  expect(queryStringParameters).toStrictEqual(query)
  expect(rawQueryString).toBe(search)
})

describe('routes of the manifest', () => {
  const match = functionRoutes(MANIFEST.map((spec) => ({ spec })))
  const found = (request: string) => {
    const [method = '', path = ''] = request.split(' ')
    const route = match(method, path)
    return [route?.entry.spec.name, route?.routeKey, route?.pathParameters]
  }

  it.each<[string, string, string, object]>([
    ['GET /v1/payments/abc', 'api-get-payment', 'GET /v1/payments/{id}', { id: 'abc' }],
    ['GET /v1/payments/%zz', 'api-get-payment', 'GET /v1/payments/{id}', { id: '%zz' }],
    ['POST /v1/payments/a%2Fb/cancel', 'api-cancel-payment', 'POST /v1/payments/{id}/cancel', { id: 'a/b' }],
    ['POST /callbacks/xendit', 'receive-provider-callback', 'POST /callbacks/xendit', {}],
    ...['DELETE /v1/payments', 'GET /v1/Payments', 'GET /v1/payments/', 'POST /v1/payments//cancel', 'GET '].map(
      (request) => [request, 'api-not-found', '$default', {}] as [string, string, string, object],
    ),
  ])('lead %s to %s; a segment with a broken escape goes on as it was sent', (request, ...expected) => {
    expect(found(request)).toStrictEqual(expected)
  })
})

it('prints an error that it answers with 500, and the request that met it', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const failure = new Error('no such page')
  const server = await startLocalHttpServer({ port: 0, answer: () => Promise.reject(failure) })
  const answer = await fetch(`${server.url}/page?of=1`)
  await server.close()

  expect(answer.status).toBe(500)
  expect(printed.mock.calls).toStrictEqual([['\nThe local server failed at GET /page?of=1:', failure]])
})
