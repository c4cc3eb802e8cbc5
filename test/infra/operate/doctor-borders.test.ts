import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { handler as receiveProviderCallback } from '../../../functions/callback/receive-provider-callback.ts'
import { PROVIDER_KEY } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { checkCallback, checkProviderKey } from '../../../infra/operate/doctor/check-provider.ts'
import { callbackSecretName } from '../../../shared/secrets.ts'
import { recordTable } from '../../support/intercept-table.ts'
import { aSimulator } from '../../support/provider-simulator-harness.ts'
import { adapter } from '../../support/scripted-provider.ts'
import { cut, json, type Script, silence, startScriptedServer } from '../../support/scripted-server.ts'
import { testDeps } from '../../support/test-deps.ts'

const knockAt = async (
  script: Script,
  options: { readonly tokens?: readonly string[]; readonly timeoutMs?: number } = {},
) => {
  const server = await startScriptedServer(script)
  const { tokens = [RIGHT], timeoutMs } = options
  return checkCallback({
    url: `${server.url}/callbacks/xendit`,
    tokens,
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
}

const RIGHT = 'the-right-token-of-tests'

const wellBehaved: Script = (response, request) => {
  const right = request.headers['x-callback-token'] === RIGHT
  json(right ? 200 : 401, right ? { outcome: 'ignored' } : {})(response, request)
}

describe("the doctor's knock at the callback URL", () => {
  it('changes nothing in the real function, which refuses a wrong token and ignores the body with a right one', async () => {
    const { deps, calls } = recordTable(testDeps())
    deps.secretValues.set(callbackSecretName('test'), JSON.stringify({ callback_tokens: [RIGHT] }))
    const findings = await knockAt((response, { headers, body }) => {
      const event = { headers, body, requestContext: { requestId: 'r' }, routeKey: 'POST /callbacks/xendit' }
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

  it('sees an API that believes anyone', async () => {
    expect((await knockAt(json(200, { outcome: 'ignored' })))[0]).toMatchObject({
      what: 'callback with a wrong token',
      state: 'wrong',
      detail: 'answered 200, not 401',
    })
  })

  it('sees an API that refuses the right token, of two the one', async () => {
    const findings = await knockAt(wellBehaved, { tokens: [RIGHT, 'not yet known'] })

    expect(findings.map(({ state }) => state)).toStrictEqual(['ok', 'ok', 'wrong'])
    expect(findings[2]?.what).toBe('callback with token 2 of 2')
    expect(JSON.stringify(findings)).not.toContain('not yet known')
  })

  it('does not take any 200 for our answer', async () => {
    const parked: Script = (response, request) =>
      request.headers['x-callback-token'] === RIGHT
        ? json(200, 'parked')(response, request)
        : json(401, {})(response, request)

    expect((await knockAt(parked))[1]).toMatchObject({ state: 'wrong', detail: 'answered 200' })
  })

  it('does not follow a redirect with a token in its hand', async () => {
    const elsewhere = await startScriptedServer(wellBehaved)
    const moved: Script = (response) => void response.writeHead(308, { location: elsewhere.url }).end()

    expect((await knockAt(moved))[0]).toMatchObject({ state: 'wrong', detail: 'answered 308, not 401' })
    expect(elsewhere.requests).toHaveLength(0)
  })

  it('says that no server answers', async () => {
    expect(await knockAt(cut)).toMatchObject([{ what: 'callback URL', state: 'wrong' }])
  })

  it('gives up on an API that never answers', async () => {
    const [finding] = await knockAt(silence, { timeoutMs: 100 })

    expect(finding).toMatchObject({
      what: 'callback URL',
      state: 'wrong',
      detail: expect.stringContaining('TimeoutError'),
    })
  })
})

describe("the doctor's questions to the provider", () => {
  it('find the right key accepted, and leave nothing after', async () => {
    await using simulator = await aSimulator()

    const findings = await checkProviderKey(adapter(simulator, PROVIDER_KEY))

    expect(findings.map(({ state }) => state)).toStrictEqual(['ok', 'ok'])
  })

  it('find a wrong key refused', async () => {
    await using simulator = await aSimulator()

    const findings = await checkProviderKey(adapter(simulator, 'xnd_wrong'))

    expect(findings.map(({ state, detail }) => [state, detail])).toStrictEqual([
      ['wrong', 'refused'],
      ['wrong', 'refused'],
    ])
  })

  it('blame no setting when the provider is away', async () => {
    const away = { kind: 'unanswered', reason: 'unreachable' } as const
    const findings = await checkProviderKey({ listTransactions: async () => away, getRequest: async () => away })

    expect(findings.map(({ state }) => state)).toStrictEqual(['unclear', 'unclear'])
  })
})
