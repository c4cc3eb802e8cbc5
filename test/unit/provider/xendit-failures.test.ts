import { describe, expect, it, vi } from 'vitest'
import type {
  Answer,
  CancelAnswer,
  Provider,
  ProviderOperation,
} from '../../../shared/provider/provider.ts'
import {
  type XenditOptions,
  xenditProvider,
} from '../../../shared/provider/xendit/xendit-provider.ts'
import { PAID_REQUEST, PROVIDER_SECRET, scriptedProvider } from '../../support/scripted-provider.ts'
import { answerScript, cut, json, type Script, silence } from '../../support/scripted-server.ts'

const UUID = '4e0209e9-67a2-449a-9748-57df6a8bddad'
const [PR, PY] = [`pr-${UUID}`, `py-${UUID}`]

function noAnswer(reason: string, code?: string) {
  return { kind: 'unanswered', reason, ...(code && { code }) }
}

describe.each<
  [string, (provider: Provider, timeoutMs?: number) => Promise<Answer<unknown> | CancelAnswer>]
>([
  ['getRequest', (provider, timeoutMs) => provider.getRequest(PR, timeoutMs)],
  ['getPayment', (provider, timeoutMs) => provider.getPayment(PY, timeoutMs)],
  [
    'listTransactions',
    (provider, timeoutMs) => provider.listTransactions({ limit: 10 }, timeoutMs),
  ],
  ['cancelRequest', (provider, timeoutMs) => provider.cancelRequest(PR, timeoutMs)],
])('xendit %s: what goes wrong', (name, ask) => {
  const answerTo = async (script: Script, timeoutMs?: number) =>
    ask((await scriptedProvider(script)).provider, timeoutMs)

  it.each<[number, string, string, string?]>([
    [401, 'INVALID_API_KEY', 'misconfigured', 'INVALID_API_KEY'],
    [403, 'REQUEST_FORBIDDEN_ERROR', 'misconfigured', 'REQUEST_FORBIDDEN_ERROR'],
    [429, 'RATE_LIMIT_EXCEEDED', 'rate_limited'],
    [400, 'API_VALIDATION_ERROR', 'refused', 'API_VALIDATION_ERROR'],
    // Only a proxy gives no code.
    ...[400, 401, 403, 404, 422].map((status): [number, string, string] => [
      status,
      'not of the known form',
      'server_error',
    ]),
    [408, 'REQUEST_TIMEOUT', 'server_error'],
    [500, 'SERVER_ERROR', 'server_error'],
  ])('is unanswered after %i %s: %s %s', async (status, sent, reason, code) => {
    expect(await answerTo(json(status, { error_code: sent, message: 'x' }))).toStrictEqual(
      noAnswer(reason, code),
    )
  })

  // What cannot be read, such as too much: `provider-http.test.ts`.
  it('believes nothing when the answer is nothing that can be read', async () => {
    expect(await answerTo((response) => response.end())).toStrictEqual(noAnswer('server_error'))
  })

  it('believes nothing when the answer is an object of another kind', async () => {
    // Only a person can repair the reading of a list, so it is told as a refusal.
    const isList = name === 'listTransactions'
    expect(await answerTo(json(200, { hello: 'world' }))).toStrictEqual(
      isList ? noAnswer('refused', 'UNREADABLE_PAGE') : noAnswer('server_error'),
    )
  })

  it('is unreachable when the answer never comes, the connection is cut, or no server listens', async () => {
    const { provider, server } = await scriptedProvider(silence)
    await server.close()

    expect([await answerTo(silence, 80), await answerTo(cut), await ask(provider)]).toStrictEqual(
      Array.from({ length: 3 }, () => noAnswer('unreachable')),
    )
  })

  it('is misconfigured without a usable key, and sends nothing', async () => {
    const { provider, server } = await scriptedProvider(
      json(200, {}),
      Date.now,
      async () => undefined,
    )

    expect(await ask(provider)).toStrictEqual(noAnswer('misconfigured'))
    expect(server.requests).toStrictEqual([])
  })

  it('a list can be empty, an item can be missing', async () => {
    const answer = await answerTo(json(404, { error_code: 'DATA_NOT_FOUND', message: 'x' }))

    const wrongPlace = noAnswer('refused', 'NOT_FOUND')
    expect(answer).toStrictEqual(name === 'listTransactions' ? wrongPlace : { kind: 'not_found' })
  })
})

const IDS = ['', '..', 'pr-1/cancel', 'x'.repeat(65)]
it.each(IDS)('xendit makes no call for an id that may not enter a path: %j', async (id) => {
  const { provider, server } = await scriptedProvider(json(200, PAID_REQUEST))

  for (const ask of [provider.getRequest, provider.getPayment, provider.cancelRequest]) {
    expect(await ask(id)).toStrictEqual({ kind: 'not_found' })
  }
  expect(server.requests).toStrictEqual([])
})

it('xendit finds nothing by the id of another product, whose length the provider refuses (OpenAPI)', async () => {
  const { provider } = await scriptedProvider(json(400, { error_code: 'API_VALIDATION_ERROR' }))

  expect(await provider.getPayment('579c8d61f23fa4ca35e52da4')).toStrictEqual({ kind: 'not_found' })
})

/** An answer with the headers of the provider's rate limit, spelt as its documents do. */
function answerOf(status: number, remaining: string, reset: string, limit = '60'): Script {
  return answerScript(status, JSON.stringify({ has_more: false, data: [] }), {
    'Rate-Limit-Limit': limit,
    'Rate-Limit-Remaining': remaining,
    'Rate-Limit-Reset': reset,
  })
}

function list(provider: Provider) {
  return provider.listTransactions({ limit: 1 })
}

describe('the provider’s Rate-Limit headers', () => {
  it.each<[string, number, Script]>([
    ['room left', 0, answerOf(200, '59', '60')],
    ['none left', 12_250, answerOf(200, '0', '12.25')],
    ['429', 3_000, answerOf(429, '0', '3')],
    ['429 although some are left', 3_000, answerOf(429, '7', '3')],
    ['a reset in no time', 500, answerOf(429, '0', '0')],
    ['a reset past every window', 120_000, answerOf(429, '0', '86400')],
    ['no number', 5_000, answerOf(429, 'none', 'soon')],
    ['Retry-After alone', 7_000, answerScript(429, '{}', { 'Retry-After': '7' })],
    [
      'Retry-After as a date',
      7_000,
      answerScript(429, '{}', {
        date: 'Thu, 26 Nov 2026 10:00:00 GMT',
        'Retry-After': 'Thu, 26 Nov 2026 10:00:07 GMT',
      }),
    ],
    ['Retry-After with another answer', 0, answerScript(503, '{}', { 'Retry-After': '7' })],
    ['no headers', 5_000, answerScript(429, '{}')],
  ])('are read after an answer, %s: a pause of %d ms', async (_case, pauseMs, script) => {
    const { provider } = await scriptedProvider(script, () => 1_000_000)

    await list(provider)

    expect(provider.pauseMs('listTransactions')).toBe(pauseMs)
  })

  it.each([
    ['0', { pauseMs: 1, callsLeft: 0 }],
    ['7', { pauseMs: 0, callsLeft: 7 }],
  ])(
    'hold for their operation until their time is over: %s calls are left',
    async (callsLeft, before) => {
      let now = 1_000_000
      const { provider } = await scriptedProvider(answerOf(200, callsLeft, '10'), () => now)
      const limitsOf = (operation: ProviderOperation) => ({
        pauseMs: provider.pauseMs(operation),
        callsLeft: provider.callsLeft(operation),
      })
      const ofMinute = () => provider.callsOfMinute('listTransactions')
      expect(ofMinute()).toBeUndefined()
      const NOTHING = { pauseMs: 0, callsLeft: undefined }
      expect(limitsOf('listTransactions')).toStrictEqual(NOTHING)

      await list(provider)
      now += 9_999

      for (const operation of [
        'createRequest',
        'getRequest',
        'getPayment',
        'cancelRequest',
      ] as const) {
        expect(limitsOf(operation)).toStrictEqual(NOTHING)
      }
      expect(limitsOf('listTransactions')).toStrictEqual(before)
      expect(ofMinute()).toBe(60)
      now += 1
      expect(limitsOf('listTransactions')).toStrictEqual(NOTHING)
      now -= 500_000
      expect(limitsOf('listTransactions')).toStrictEqual(NOTHING)
    },
  )

  it('are over when an answer says that there is room, also without a limit', async () => {
    const answers = [answerOf(200, '0', '60'), answerOf(200, '5', '60', '')]
    const { provider } = await scriptedProvider((...call) => answers.shift()?.(...call))

    await list(provider)
    await list(provider)

    expect(provider.pauseMs('listTransactions')).toBe(0)
    expect(provider.callsOfMinute('listTransactions')).toBeUndefined()
  })
})

it('a call after a refused key asks for a fresh key, and a call after another answer does not', async () => {
  const get = vi.fn(async (_name, _fresh?) => PROVIDER_SECRET)
  const error_code = 'REQUEST_FORBIDDEN_ERROR'
  const answers = [json(401, {}), json(403, { error_code }), json(404, {}), json(404, {})]
  const { provider } = await scriptedProvider(
    (...call) => answers.shift()?.(...call),
    Date.now,
    get,
  )

  for (let calls = 0; calls < 4; calls++) await provider.getPayment('py-1')

  expect(get.mock.calls.map(([, fresh]) => fresh)).toStrictEqual([
    undefined,
    'fresh',
    'fresh',
    undefined,
  ])
})

it.each([
  [3_000, [1_000]],
  [4_000, []],
])(
  'a key that is read in %d ms of 4,000 leaves the call the remaining time',
  async (readMs, timeouts) => {
    let nowMs = 0
    const get = async () => ((nowMs += readMs), PROVIDER_SECRET)
    const call = vi.fn<NonNullable<XenditOptions['call']>>(async () => ({
      kind: 'answered',
      status: 404,
      json: {},
    }))
    await xenditProvider({ stage: 'test', secrets: { get }, nowMs: () => nowMs, call }).getPayment(
      'py-1',
    )

    expect(call.mock.calls.map(([{ timeoutMs }]) => timeoutMs)).toStrictEqual(timeouts)
  },
)
