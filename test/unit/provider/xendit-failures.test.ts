import { describe, expect, it } from 'vitest'
import type { Answer, CancelAnswer, Provider } from '../../../shared/provider/provider.ts'
import { xenditProvider } from '../../../shared/provider/xendit/xendit-provider.ts'
import { cut, json, type Script, silence, startScriptedServer } from '../../support/scripted-server.ts'
import { CAPTURED_PAYMENT, PAID_REQUEST, PROVIDER_KEY, scriptedProvider } from '../../support/xendit-provider.ts'

const TIMEOUT_MS = 5_000

type Ask = (provider: Provider, timeoutMs: number) => Promise<Answer<unknown> | CancelAnswer>

const READS: readonly (readonly [string, Ask])[] = [
  ['getRequest', (provider, timeoutMs) => provider.getRequest('pr-1', timeoutMs)],
  ['getPayment', (provider, timeoutMs) => provider.getPayment('py-1', timeoutMs)],
  ['listTransactions', (provider, timeoutMs) => provider.listTransactions({ limit: 10 }, timeoutMs)],
]
const CANCEL: readonly [string, Ask] = [
  'cancelRequest',
  (provider, timeoutMs) => provider.cancelRequest('pr-1', timeoutMs),
]

describe.each([...READS, CANCEL])('xendit %s: what goes wrong', (_name, ask) => {
  const answerTo = async (script: Script, timeoutMs = TIMEOUT_MS) =>
    ask((await scriptedProvider(script)).provider, timeoutMs)

  it.each<[number, string, object]>([
    [401, 'INVALID_API_KEY', { kind: 'unanswered', reason: 'misconfigured', code: 'INVALID_API_KEY' }],
    [403, 'REQUEST_FORBIDDEN_ERROR', { kind: 'unanswered', reason: 'misconfigured', code: 'REQUEST_FORBIDDEN_ERROR' }],
    [429, 'RATE_LIMIT_EXCEEDED', { kind: 'unanswered', reason: 'rate_limited' }],
    [400, 'API_VALIDATION_ERROR', { kind: 'unanswered', reason: 'refused', code: 'API_VALIDATION_ERROR' }],
    [400, 'FEATURE_NOT_AVAILABLE', { kind: 'unanswered', reason: 'refused', code: 'FEATURE_NOT_AVAILABLE' }],
    [422, 'not of the known form', { kind: 'unanswered', reason: 'refused', code: 'UNKNOWN' }],
    [408, 'REQUEST_TIMEOUT', { kind: 'unanswered', reason: 'server_error' }],
    [500, 'SERVER_ERROR', { kind: 'unanswered', reason: 'server_error' }],
    [502, 'BAD_GATEWAY', { kind: 'unanswered', reason: 'server_error' }],
    [503, 'CHANNEL_UNAVAILABLE', { kind: 'unanswered', reason: 'server_error' }],
  ])('answers for %i %s: %j', async (status, code, expected) => {
    expect(await answerTo(json(status, { error_code: code, message: 'x' }))).toStrictEqual(expected)
  })

  it.each<[string, Script]>([
    ['malformed JSON', (response) => response.end('{"status":')],
    ['nothing', (response) => response.end()],
    ['an object of another kind', json(200, { hello: 'world' })],
    [
      'too much',
      json(200, { ...PAID_REQUEST, ...CAPTURED_PAYMENT, data: [], status: 'CANCELED', pad: 'x'.repeat(2 ** 20) }),
    ],
    ['a redirect', (response) => response.writeHead(307, { location: '/elsewhere' }).end()],
  ])('believes nothing when the answer is %s', async (_kind, script) => {
    expect(await answerTo(script)).toStrictEqual({ kind: 'unanswered', reason: 'server_error' })
  })

  it('is unreachable when the answer never comes, the connection is cut, or nobody listens', async () => {
    const unreachable = { kind: 'unanswered', reason: 'unreachable' }
    const { provider, server } = await scriptedProvider(silence)
    await server.close()

    expect(await answerTo(silence, 80)).toStrictEqual(unreachable)
    expect(await answerTo(cut)).toStrictEqual(unreachable)
    expect(await ask(provider, TIMEOUT_MS)).toStrictEqual(unreachable)
  })

  it('is misconfigured without a usable key, and sends nothing', async () => {
    const server = await startScriptedServer(json(200, {}))
    const provider = xenditProvider({
      baseUrl: server.url,
      stage: 'test',
      secrets: { get: async () => undefined },
      nowMs: Date.now,
    })

    expect(await ask(provider, TIMEOUT_MS)).toStrictEqual({ kind: 'unanswered', reason: 'misconfigured' })
    expect(server.requests).toStrictEqual([])
  })

  it('shows key and version', async () => {
    const { provider, server } = await scriptedProvider(json(404, {}))

    await ask(provider, TIMEOUT_MS)

    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from(`${PROVIDER_KEY}:`).toString('base64')}`,
      'api-version': '2024-11-11',
    })
  })
})

describe('xendit: what is not there', () => {
  it.each([...READS, CANCEL])('%s: a list can be empty, anything else can be missing', async (name, ask) => {
    const { provider } = await scriptedProvider(json(404, { error_code: 'DATA_NOT_FOUND', message: 'x' }))

    const answer = await ask(provider, TIMEOUT_MS)

    const wrongPlace = { kind: 'unanswered', reason: 'refused', code: 'NOT_FOUND' }
    expect(answer).toStrictEqual(name === 'listTransactions' ? wrongPlace : { kind: 'not_found' })
  })
})

describe('xendit: ids that may not enter a path', () => {
  it.each(['', '.', '..', '../v3/payments/py-1', 'pr-1/cancel', 'pr-1?x=1', 'pr-1#', 'pr 1', 'pr-%2e', 'x'.repeat(65)])(
    'calls nobody for %j',
    async (id) => {
      const { provider, server } = await scriptedProvider(json(200, PAID_REQUEST))

      const answers = await Promise.all([
        provider.getRequest(id, TIMEOUT_MS),
        provider.getPayment(id, TIMEOUT_MS),
        provider.cancelRequest(id, TIMEOUT_MS),
      ])

      expect(answers).toStrictEqual([{ kind: 'not_found' }, { kind: 'not_found' }, { kind: 'not_found' }])
      expect(server.requests).toStrictEqual([])
    },
  )
})
