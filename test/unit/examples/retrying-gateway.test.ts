import { describe, expect, it } from 'vitest'
import { gatewayClient } from '../../../docs/examples/gateway-client.ts'
import type { CreatePayment } from '../../../docs/examples/gateway-schemas.ts'
import { GatewayRefused } from '../../../docs/examples/retrying-gateway.ts'
import { HTTP_STATUS } from '../../../shared/errors.ts'
import { CLIENT_ROUTES } from '../../support/api-event.ts'
import { json, startScriptedServer } from '../../support/scripted-server.ts'

/* Goal: the client retries the calls that may be retried, until its deadline. */

type Scripted = readonly [status: number, body: unknown, headers?: Record<string, string>] | Error

const BODY: CreatePayment = { method: 'qris', amount: 20_000, currency: 'IDR' }
const PAYMENT = { id: 'p1', status: 'pending' }

/** The last line of the script is repeated. */
function aClient(script: readonly Scripted[], { deadlineMs = 60_000, random = 0 } = {}) {
  const requests: { method: string; path: string; key: string | null; auth: string | null }[] = []
  const waits: number[] = []
  // A clock gives fractions of a millisecond.
  let nowMs = 0.123
  const answer = async (input: unknown, init: RequestInit = {}) => {
    await Promise.resolve()
    const headers = new Headers(init.headers)
    const { pathname, search } = new URL(String(input))
    const [key, auth] = [headers.get('idempotency-key'), headers.get('authorization')]
    requests.push({ method: init.method ?? 'GET', path: pathname + search, key, auth })
    const line = script[Math.min(requests.length, script.length) - 1]
    if (line === undefined || line instanceof Error) throw line ?? new Error('no script')
    const [status, body, extraHeaders] = line
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), {
      status,
      headers: extraHeaders ?? {},
    })
  }
  const client = gatewayClient({
    baseUrl: 'https://gateway.example',
    apiKey: 'gk_1',
    fetch: answer,
    deadlineMs,
    clock: {
      nowMs: () => nowMs,
      wait: async (ms) => {
        await Promise.resolve()
        waits.push(ms)
        nowMs += ms
      },
      random: () => random,
    },
  })
  return { client, requests, waits }
}

function statusOf(code: string) {
  return HTTP_STATUS[code as keyof typeof HTTP_STATUS]
}
function refusedWith(code: string): Scripted {
  return [statusOf(code), { code, message: 'no' }, { 'x-request-id': 'r-1' }]
}

async function reasonOf(call: Promise<unknown>) {
  const reason = await call.catch((error: unknown) => error)
  if (reason instanceof GatewayRefused) return reason
  throw new Error('it was answered', { cause: reason })
}

it.each([
  ['the default deadline, on a clock that jumps', undefined],
  ['a deadline below one try', 1_500.5],
])('the client reports the server’s last error with %s', async (_, deadlineMs) => {
  const error = { code: 'internal_error', message: 'the table is away' }
  const server = await startScriptedServer(json(500, error))
  let waitedMs = 0
  const client = gatewayClient({
    baseUrl: server.url,
    apiKey: 'gk_1',
    ...(deadlineMs === undefined
      ? {
          clock: {
            nowMs: () => performance.now() + waitedMs,
            wait: async (ms) => void (waitedMs += ms),
            random: Math.random,
          },
        }
      : { deadlineMs }),
  })

  const reason = await reasonOf(client.createPayment(BODY))

  expect(reason).toMatchObject({ status: 500, ...error })
  expect(server.requests.length).toBeGreaterThan(1)
})

it('the client has a call for every route of a merchant', async () => {
  const { client, requests } = aClient([[200, { data: [], pagination: {}, lines: [], next: null }]])
  const calls = [
    () => client.createPayment(BODY),
    () => client.getPayment('x'),
    () => client.cancelPayment('x'),
    () => client.findPaymentOfKey('x'),
    () => client.listPayments().next(),
    () => client.getBalance(),
    () => client.listBalanceEntries().next(),
    () => client.getStatement(),
    () => client.getSettlement('x'),
    () => client.listSettlements().next(),
    () => client.listSettlementEntries('x').next(),
    () => client.eventPages().next(),
    () => client.listWebhookEndpoints(),
    () => client.listWebhookDeliveries().next(),
    () => client.getWebhookDelivery('x'),
    () => client.redeliverWebhook('x'),
    () => client.redeliverToEndpoint('x', { since: '2026-11-20T04:00:00.000Z' }),
  ]

  for (const call of calls) await call()
  const asked = new Set(requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`))
  const routes = CLIENT_ROUTES.map((route) => route.replace('{id}', 'x'))
  expect([...asked].toSorted()).toStrictEqual([...new Set(routes)].toSorted())
  expect(calls).toHaveLength(Object.keys(client).length)
})

describe('the client', () => {
  it.each(Object.keys(HTTP_STATUS))('retries %s as the table of errors says', async (code) => {
    const { client, requests } = aClient([refusedWith(code), [200, PAYMENT]])

    const outcome = await client.getPayment('p1').catch((error: unknown) => error)

    const isRetried = /^(rate_limit|network|.*_error)$/.test(code)
    expect(requests).toHaveLength(isRetried ? 2 : 1)
    const refusal = expect.objectContaining({ code, status: statusOf(code), requestId: 'r-1' })
    expect(outcome).toStrictEqual(isRetried ? PAYMENT : refusal)
  })

  it.each<[string, Scripted, number]>([
    ['a broken connection', new TypeError('fetch failed'), 2],
    ['a page of a load balancer', [502, '<html>Bad gateway</html>'], 2],
    ['429 without an envelope', [429, { message: 'Too Many Requests' }], 2],
    ['403 of a firewall', [403, '<html>'], 1],
    ['a success cut short', [200, '{"id":'], 2],
  ])('after %s retries only if a retry may help', async (_, first, times) => {
    const { client, requests } = aClient([first, [200, PAYMENT]])

    await client.getPayment('p1').catch(() => undefined)

    expect(requests).toHaveLength(times)
  })

  it('creates with one random key through all tries of a call, and another key in the next', async () => {
    const { client, requests } = aClient([
      new TypeError('reset'),
      refusedWith('internal_error'),
      [201, PAYMENT],
    ])

    await client.createPayment(BODY)
    await client.createPayment(BODY)

    const [first, second, third, next] = requests.map(({ key }) => key)
    for (const key of [first, next]) expect(key).toMatch(/^[0-9a-f-]{36}$/)
    expect([second, third]).toStrictEqual([first, first])
    expect(next).not.toBe(first)
    expect(new Set(requests.map(({ auth }) => auth))).toStrictEqual(new Set(['Bearer gk_1']))
  })

  it('says which fields of a create are wrong, and its key; an id is one part of the path', async () => {
    const field_errors = { amount: ['notional_minor must be > 0'] }
    const { client, requests } = aClient([[422, { code: 'validation', field_errors }]])

    const reason = await reasonOf(client.createPayment({ ...BODY, amount: 0 }))
    await reasonOf(client.getPayment('a/b'))

    const [{ key: idempotencyKey } = {}, { path } = {}] = requests
    expect(reason).toMatchObject({
      message: 'HTTP status 422',
      fieldErrors: field_errors,
      idempotencyKey,
    })
    expect(path).toBe('/v1/payments/a%2Fb')
  })

  const DOWN = [refusedWith('network')]

  const retryAfter = (seconds: string): readonly Scripted[] => [
    [429, { code: 'rate_limit', message: 'slower' }, { 'retry-after': seconds }],
    [200, PAYMENT],
  ]

  it.each([
    [
      '1, 2, 4, 8, 16 seconds, and ends before its deadline',
      DOWN,
      {},
      [1_000, 2_000, 4_000, 8_000, 16_000, 16_000],
    ],
    [
      'up to a half less, at random',
      DOWN,
      { random: 0.999, deadlineMs: 4_000 },
      [500, 1_000, 2_000],
    ],
    ['as long as Retry-After says', retryAfter('5'), {}, [5_000]],
    ['not at all if Retry-After exceeds its deadline', retryAfter('61'), {}, []],
    ['a second where Retry-After says zero', retryAfter('0'), {}, [1_000]],
    [
      'a second where Retry-After is a date',
      retryAfter('Fri, 01 Jan 2027 00:00:00 GMT'),
      {},
      [1_000],
    ],
  ])('waits %s', async (_, script, options, expected) => {
    const { client, waits } = aClient(script, options)

    await client.getPayment('p1').catch(() => undefined)

    expect(waits.map((ms) => Math.round(ms / 10) * 10)).toStrictEqual(expected)
  })

  it('accepts a cancel that its own earlier try made, and refuses the cancel of a paid payment', async () => {
    const ended = (status: string): Scripted[] => [
      [422, { code: 'validation', message: `payment cannot be cancelled in status=${status}` }],
      [200, { ...PAYMENT, status }],
    ]
    const [done, paid] = [
      aClient([new TypeError('reset'), ...ended('cancelled')]),
      aClient(ended('succeeded')),
    ]

    expect(await done.client.cancelPayment('p1')).toMatchObject({ status: 'cancelled' })
    expect(await reasonOf(paid.client.cancelPayment('p1'))).toMatchObject({ code: 'validation' })
  })

  it('retries a redelivery only when the rate limit refused it', async () => {
    const limited = aClient([refusedWith('rate_limit'), [200, {}]])
    const broken = aClient([new TypeError('reset'), [200, {}]])

    await limited.client.redeliverWebhook('d1')

    expect(await reasonOf(broken.client.redeliverWebhook('d1'))).toMatchObject({
      status: 0,
      code: undefined,
    })
    expect([limited.requests.length, broken.requests.length]).toStrictEqual([2, 1])
  })

  it('follows `next` while there are more events, from the given cursor', async () => {
    const page = { data: [{ payment_id: 'a' }] }
    const { client, requests } = aClient([
      [200, { ...page, next: 'n1', has_more: true }],
      [200, { ...page, next: 'n2', has_more: false }],
    ])

    const seen: unknown[] = []
    for await (const events of client.eventPages({ since: '2026-01-01T00:00:00Z' }))
      seen.push(events)

    expect(seen).toHaveLength(2)
    expect(requests.map(({ path }) => path)).toStrictEqual([
      '/v1/events?since=2026-01-01T00%3A00%3A00Z&limit=100',
      '/v1/events?after=n1&limit=100',
    ])
  })
})
