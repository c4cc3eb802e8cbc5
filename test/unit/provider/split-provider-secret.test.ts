import type { Context } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { handler } from '../../../functions/deployment/split-provider-secret.ts'
import { isCallbackToken, readCallbackTokens } from '../../../shared/provider/callback-secret.ts'
import { readProviderKey } from '../../../shared/provider/provider-secret.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { cut, json, type Script, startScriptedServer } from '../../support/scripted-server.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const KEY = providerSecretName('test')
const TOKENS = callbackSecretName('test')
const [NEW, OLD] = ['the-new-token-of-tests', 'the-old-token-of-tests']
const CONTEXT = { functionName: 'gateway-test-split-provider-secret' } as Context

/** The secrets as CloudFormation has them when the step begins: the new one was just made, of random text. */
const aStage = (keyText: string): TestDeps => {
  const deps = testDeps()
  deps.secretValues.set(KEY, keyText)
  deps.secretValues.set(TOKENS, 'Generated')
  return deps
}

const older = (...tokens: readonly unknown[]) => JSON.stringify({ secret_key: 'xnd_1', callback_tokens: tokens })

const run = async (deps: TestDeps, RequestType = 'Create', script: Script = json(200, {})) => {
  const server = await startScriptedServer(script)
  const event = {
    RequestType,
    ResponseURL: `${server.url}/answer?signature=s3cr3t`,
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'Step',
    ResourceProperties: { ServiceToken: 'arn' },
  }
  const outcome = await handler
    .withDeps(deps)(event, CONTEXT)
    .catch((error: unknown) => error)
  return { outcome, server, said: server.requests.map(({ body }) => JSON.parse(body)) }
}

const ANSWER = {
  PhysicalResourceId: 'gateway-test-split-provider-secret',
  StackId: 'stack',
  RequestId: 'request',
  LogicalResourceId: 'Step',
}

describe('split-provider-secret', () => {
  it('copies the tokens before it answers, so that the functions to come find both parts', async () => {
    const deps = aStage(older(NEW, OLD))
    const copiedBefore: boolean[] = []

    const { outcome, server, said } = await run(deps, 'Create', (response, request) => {
      copiedBefore.push(deps.secretValues.get(TOKENS) !== 'Generated')
      json(200, {})(response, request)
    })

    expect(outcome).toStrictEqual({ outcome: 'copied' })
    expect(copiedBefore).toStrictEqual([true])
    expect(said).toStrictEqual([{ ...ANSWER, Status: 'SUCCESS' }])
    expect(server.requests).toMatchObject([{ method: 'PUT', url: '/answer?signature=s3cr3t' }])
    // A presigned address allows no type of content.
    expect(server.requests[0]?.headers['content-type'] ?? '').toBe('')
    expect(await readProviderKey(deps.secrets, 'test')).toBe('xnd_1')
    expect(await readCallbackTokens(deps.secrets, 'test')).toStrictEqual([NEW, OLD])
  })

  it('refuses no callback meanwhile: what the release before reads stays as it is', async () => {
    const deps = aStage(older(NEW, OLD))

    await run(deps)

    expect(deps.secretValues.get(KEY)).toBe(older(NEW, OLD))
    expect(await Promise.all([NEW, OLD].map((token) => isCallbackToken(deps, token)))).toStrictEqual([true, true])
  })

  it('does the same when it is run twice', async () => {
    const deps = aStage(older(NEW))

    await run(deps)
    await run(deps)

    expect(await readCallbackTokens(deps.secrets, 'test')).toStrictEqual([NEW])
  })

  it.each([
    ['that nobody has filled in', 'x(7Generated'],
    ['of this release', '{"secret_key":"xnd_1"}'],
    ['without tokens that ever worked', older('', 7)],
  ])('has nothing to copy from a provider secret %s, and lets the deployment go on', async (_case, text) => {
    const deps = aStage(text)

    const { outcome, said } = await run(deps)

    expect(outcome).toStrictEqual({ outcome: 'nothing_to_copy' })
    expect(said).toMatchObject([{ Status: 'SUCCESS' }])
    expect(deps.secretValues.get(TOKENS)).toBe('Generated')
  })

  it('ends the deployment when tokens in use have under 16 characters, in words and without quoting them', async () => {
    const deps = aStage(older(NEW, 'fifteen-in-all-'))

    const { said } = await run(deps)

    expect(said).toStrictEqual([
      {
        ...ANSWER,
        Status: 'FAILED',
        Reason:
          'gateway/test/provider: callback_tokens must be a list of one or two texts of 16 to 1,024 printable ASCII characters without spaces',
      },
    ])
    expect(deps.secretValues.get(TOKENS)).toBe('Generated')
  })

  it('ends the deployment when the tokens cannot be copied, and says only where to look', async () => {
    const deps = aStage(older(NEW))
    deps.secretValues.delete(TOKENS)

    const { said } = await run(deps)

    const Reason = 'it broke off: see the log of gateway-test-split-provider-secret'
    expect(said).toStrictEqual([{ ...ANSWER, Status: 'FAILED', Reason }])
  })

  it.each(['Update', 'Delete'])('copies nothing on %s: what operators put since then stays', async (type) => {
    const deps = aStage(older(OLD))

    const { said } = await run(deps, type)

    expect(said).toMatchObject([{ Status: 'SUCCESS' }])
    expect(deps.secretValues.get(TOKENS)).toBe('Generated')
  })

  it.each([
    ['refuses the answer', json(403, {})],
    ['cuts the connection', cut],
  ])('fails, to be run again, when CloudFormation %s', async (_case, script) => {
    const { outcome } = await run(aStage(older(NEW)), 'Create', script)

    expect(outcome).toStrictEqual(new Error('CloudFormation could not be answered'))
  })

  it('refuses what is no request of CloudFormation, without quoting it', async () => {
    const outcome: unknown = await handler
      .withDeps(testDeps())({ ResponseURL: 'https://signed.example/s3cr3t' }, CONTEXT)
      .catch((error: unknown) => error)

    expect(outcome).toStrictEqual(new Error('this is no request of CloudFormation'))
  })

  it('logs neither key nor token nor the signed address, whatever happens', async () => {
    const all = [aStage(older(NEW, OLD)), aStage(older('fifteen-in-all-')), aStage(older(NEW))]
    all[2]?.secretValues.delete(TOKENS)

    for (const deps of all) await run(deps)

    expect(all.map((deps) => JSON.stringify(deps.lines)).join()).not.toMatch(/xnd_1|of-tests|fifteen|s3cr3t/)
  })
})
