import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { describe, expect, it, vi } from 'vitest'
import { handler as receiveProviderCallback } from '../../../functions/callback/receive-provider-callback.ts'
import { PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { checkConcurrency, checkRoutes } from '../../../infra/operate/doctor/check-functions.ts'
import { checkCallback, checkProviderKey } from '../../../infra/operate/doctor/check-provider.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { CLIENT_ROUTES } from '../../support/api-event.ts'
import { aSimulator } from '../../support/provider-simulator-harness.ts'
import { adapter } from '../../support/scripted-provider.ts'
import {
  awsError,
  cut,
  json,
  type Script,
  silence,
  startScriptedServer,
} from '../../support/scripted-server.ts'
import { recordTable, testDeps } from '../../support/test-deps.ts'
import { notOk } from './examined-stage.ts'

describe("the doctor's question to every route", () => {
  const wellBehaved: Script = (response, request) => {
    const isUnknown = request.url === '/v1/gateway-doctor'
    json(isUnknown ? 404 : 401, { code: isUnknown ? 'not_found' : 'auth' })(response, request)
  }

  it('is sent once to each route of the API, and to a path without a route', async () => {
    const api = await startScriptedServer(wellBehaved)

    expect(notOk(await checkRoutes(api.url, 'prod'))).toStrictEqual([])
    expect(api.requests.map(({ method, url }) => `${method} ${url}`).toSorted()).toStrictEqual(
      [
        ...CLIENT_ROUTES.map((route) => route.replace('{id}', 'gateway-doctor')),
        'GET /v1/gateway-doctor',
      ].toSorted(),
    )
  })

  it.each([
    [
      '/v1/balance',
      'answers 500',
      json(500, { code: 'internal_error' }),
      '500 internal_error, not 401 auth',
    ],
    [
      '/v1/balance',
      'does not reach our functions',
      json(401, { message: 'Unauthorized' }),
      '401 without our envelope, not 401 auth',
    ],
    ['/v1/balance', 'lets the key in', json(200, {}), '200 without our envelope, not 401 auth'],
    ['/v1/balance', 'is not reached', cut, 'no answer (SocketError), not 401 auth'],
    [
      '/v1/gateway-doctor',
      'is no route, but reaches a function',
      json(401, { code: 'auth' }),
      '401 auth, not 404 not_found',
    ],
  ])('finds the path %s that %s', async (path, _, broken, detail) => {
    const api = await startScriptedServer((response, request) =>
      (request.url === path ? broken : wellBehaved)(response, request),
    )

    expect(notOk(await checkRoutes(api.url, 'prod'))).toStrictEqual([
      `wrong route GET ${path}: ${detail}`,
    ])
  })
})

const RIGHT = 'the-right-token-of-tests'

describe("the doctor's calls of the callback URL", () => {
  const answeringWith =
    (body: unknown): Script =>
    (response, request) => {
      const right = request.headers['x-callback-token'] === RIGHT
      json(right ? 200 : 401, right ? body : {})(response, request)
    }
  const wellBehaved = answeringWith({ outcome: 'ignored' })
  const askAt = async (script: Script, tokens: readonly string[] = [RIGHT]) => {
    const { url } = await startScriptedServer(script)
    return checkCallback({
      url: `${url}/callbacks/xendit`,
      tokens,
      ...(script === silence && { timeoutMs: 100 }),
    })
  }

  it('changes nothing in the real function, which refuses a wrong token and ignores the body of a right token', async () => {
    const { deps, calls } = recordTable(testDeps())
    deps.secretValues.set(callbackSecretName('test'), JSON.stringify({ callback_tokens: [RIGHT] }))
    const findings = await askAt((response, { headers, body }) => {
      const event = {
        headers,
        body,
        requestContext: { requestId: 'r' },
        routeKey: 'POST /callbacks/xendit',
      }
      const lambda = receiveProviderCallback.withDeps(deps)
      lambda(event as APIGatewayProxyEventV2, {} as Context).then(
        ({ statusCode, body: text }) => response.writeHead(statusCode ?? 200).end(text),
        () => response.destroy(),
      )
    })

    expect(findings).toMatchObject([
      { what: 'callback with a wrong token', state: 'ok', detail: 'refused' },
      { what: 'callback with token 1 of 1', state: 'ok', detail: 'accepted' },
    ])
    expect(calls).toStrictEqual([])
    expect(deps.lines.map(({ code }) => code)).toStrictEqual(
      expect.arrayContaining(['callback.refused', 'callback.ignored']),
    )
  })

  it.each<[string, Script, tokens: string[], found: RegExp]>([
    [
      'an API that accepts any token',
      json(200, { outcome: 'ignored' }),
      [RIGHT],
      /with a wrong token: answered 200, not 401 -> take the API off the network/,
    ],
    [
      'the refused token of two right tokens',
      wellBehaved,
      [RIGHT, 'hush'],
      /with token 2 of 2: answered 401 -> .* wait and try again$/,
    ],
    [
      'a foreign 200',
      answeringWith('parked'),
      [RIGHT],
      /with token 1 of 1: answered 200 -> read the log of /,
    ],
    [
      'that no server answers at the URL',
      cut,
      [RIGHT],
      /URL: http:.* cannot be reached: SocketError -> check domain/,
    ],
    [
      'that the server never answers',
      silence,
      [RIGHT],
      /URL: http:.* cannot be reached: TimeoutError -> check domain/,
    ],
  ])('find %s', async (_, script, tokens, { source }) => {
    const findings = (await askAt(script, tokens)).filter(({ state }) => state !== 'ok')

    expect(
      findings.map(({ state, what, detail, todo }) => `${state} ${what}: ${detail} -> ${todo}`),
    ).toStrictEqual([expect.stringMatching(`^wrong callback ${source}`)])
  })

  it('sends no token to the target of a redirect', async () => {
    const elsewhere = await startScriptedServer(wellBehaved)
    const moved: Script = (response) =>
      void response.writeHead(308, { location: elsewhere.url }).end()

    expect(notOk(await askAt(moved))[0]).toBe(
      'wrong callback with a wrong token: answered 308, not 401',
    )
    expect(elsewhere.requests).toHaveLength(0)
  })
})

describe("the doctor's questions to the provider", () => {
  it.each([
    ['accepted', PROVIDER_KEY, 'ok'],
    ['refused', 'xnd_wrong', 'wrong'],
  ])('find that a key is %s', async (detail, key, state) => {
    await using simulator = await aSimulator()

    expect(await checkProviderKey(adapter(simulator, key), 600)).toMatchObject([
      { what: 'provider key for transactions (Transaction: Read)', state, detail },
      { what: 'provider key for payment requests (Money-in: Write)', state, detail },
      { what: 'provider key for the balance (Money-out: Read)', state, detail },
      { what: 'provider calls a minute', state: 'ok' },
    ])
  })

  it.for([
    [
      'name the permission that a key lacks: the balance needs its own (guide to API keys)',
      { permissions: ['transactions', 'money_in'] },
      600,
      { what: 'provider key for the balance (Money-out: Read)', state: 'wrong' },
    ],
    [
      'find a limit of the account that the stage does not know',
      undefined,
      6_000,
      {
        what: 'provider calls a minute',
        detail: 'the provider allows 600, the stage uses 6000',
        todo: 'set providerCallsPerMinute of the stage to 600',
      },
    ],
  ] as const)('%s', async ([, account, callsPerMinute, finding]) => {
    await using simulator = await aSimulator()
    if (account) await simulator.call('POST', '/_simulator/account', account)

    const findings = await checkProviderKey(adapter(simulator), callsPerMinute)

    expect(findings.filter(({ state }) => state !== 'ok')).toMatchObject([finding])
  })

  it('blame no setting when the provider is unreachable', async () => {
    const away = { kind: 'unanswered', reason: 'unreachable' } as const
    const findings = await checkProviderKey(
      {
        listTransactions: async () => away,
        getRequest: async () => away,
        getBalance: async () => away,
        callsOfMinute: () => undefined,
      },
      600,
    )

    expect(findings.map(({ state }) => state)).toStrictEqual(Array(3).fill('unclear'))
  })
})

it('a wrong reserved concurrency has the command that corrects it, although Lambda answers fifteen calls a second', async () => {
  let refusals = 4
  const { url } = await startScriptedServer((response, request) => {
    const isRefused = request.url.includes('prove-release') && refusals-- > 0
    const answer = isRefused
      ? awsError(429, 'TooManyRequestsException')
      : json(200, { ReservedConcurrentExecutions: 0 })
    answer(response, request)
  })
  for (const name of ['ENDPOINT_URL_LAMBDA', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'])
    vi.stubEnv(`AWS_${name}`, url)
  // Each wait.
  vi.spyOn(Math, 'random').mockReturnValue(0)

  const findings = await checkConcurrency(awsClients('r').lambda, deployedStage('prod'))

  expect(findings.at(-1)?.todo).toBe(
    'aws lambda delete-function-concurrency --function-name gateway-prod-prove-release',
  )
})
