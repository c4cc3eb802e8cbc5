import type { Context } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { handler } from '../../../functions/deployment/split-provider-secret.ts'
import { isCallbackToken, readCallbackTokens } from '../../../shared/provider/callback-secret.ts'
import { readProviderKey } from '../../../shared/provider/provider-secret.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { PROVIDER_KEY, PROVIDER_SECRET } from '../../support/scripted-provider.ts'
import { cut, json, type Script, startScriptedServer } from '../../support/scripted-server.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const KEY = providerSecretName('test')
const TOKENS = callbackSecretName('test')
const [NEW, OLD] = ['the-new-token-of-tests', 'the-old-token-of-tests'] as const

const stored = (secrets: Readonly<Record<string, string>>): TestDeps => {
  const deps = testDeps()
  for (const [name, text] of Object.entries(secrets)) deps.secretValues.set(name, text)
  return deps
}

const tokens = (...list: readonly unknown[]) => JSON.stringify({ callback_tokens: list })
/** The one secret of an older release: key and tokens together. */
const older = (...list: readonly unknown[]) => JSON.stringify({ secret_key: PROVIDER_KEY, callback_tokens: list })

const thrownBy = (read: Promise<unknown>) => read.then(() => undefined).catch((thrown: unknown) => thrown)

describe('readProviderKey', () => {
  it.each([PROVIDER_SECRET, older('short')])(
    'reads the key of its stage alone, from an older release’s secret too',
    async (text) => {
      const { secrets } = stored({ [KEY]: text })

      expect(await readProviderKey(secrets, 'test')).toBe(PROVIDER_KEY)
      await expect(readProviderKey(secrets, 'production')).rejects.toThrow('the provider secret is missing')
    },
  )
})

describe('readCallbackTokens', () => {
  it.each([[[NEW, OLD]], [['sixteen-in-all-1']]])('reads one token, or two during an exchange: %j', async (list) => {
    expect(await readCallbackTokens(stored({ [TOKENS]: tokens(...list) }).secrets, 'test')).toStrictEqual(list)
  })
})

const MALFORMED = {
  provider: [
    'xnd_production_plain_text',
    '',
    'null',
    '[]',
    '{}',
    '{"secret_key":""}',
    '{"secret_key":"xnd_1\\nx-injected: 1"}',
    '{"secret_key":7}',
  ],
  callback: [
    'a-plain-token-of-16-characters',
    '{}',
    tokens(),
    '{"callback_tokens":"a-plain-token-of-tests"}',
    tokens('fifteen-in-all-'),
    tokens(NEW, 'short'),
    tokens('sixteen-in-all-1', 'sixteen-in-all-2', 'sixteen-in-all-3'),
    tokens('with spaces in it'),
  ],
}

it.each([
  ...MALFORMED.provider.map((text) => ['provider', text, readProviderKey] as const),
  ...MALFORMED.callback.map((text) => ['callback', text, readCallbackTokens] as const),
])('the %s secret is refused without quoting it: %j', async (which, text, read) => {
  const error = await thrownBy(read(stored({ [KEY]: text, [TOKENS]: text }).secrets, 'test'))

  expect(error).toStrictEqual(new Error(`the ${which} secret is malformed`))
  expect(error).not.toHaveProperty('cause')
})

describe('isCallbackToken (design section 4: two tokens, for rotation)', () => {
  it.each([NEW, OLD])('accepts %s', async (token) => {
    expect(await isCallbackToken(stored({ [TOKENS]: tokens(NEW, OLD) }), token)).toBe(true)
  })

  it.each([undefined, '', 'token', `${NEW} `, NEW.toUpperCase(), `${NEW}${OLD}`, `${NEW},${OLD}`, '\u0000'])(
    'refuses %j',
    async (token) => {
      expect(await isCallbackToken(stored({ [TOKENS]: tokens(NEW, OLD) }), token)).toBe(false)
    },
  )

  it('throws when it cannot know, so that the callback is sent again, and looks for no tokens beside the key', async () => {
    await expect(isCallbackToken(stored({ [KEY]: older(NEW) }), NEW)).rejects.toThrow('the callback secret is missing')
  })
})

describe('split-provider-secret', () => {
  const NAME = 'gateway-test-split-provider-secret'

  /** The secrets as CloudFormation has them when the step begins: the new one was just made, of random text. */
  const aStage = (keyText: string) => stored({ [KEY]: keyText, [TOKENS]: 'Generated' })

  const run = async (deps: TestDeps, RequestType = 'Create', script: Script = json(200, {})) => {
    const { url, requests } = await startScriptedServer(script)
    const ids = { StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Step' }
    const ResponseURL = `${url}/answer?signature=s3cr3t`
    const event = { ...ids, RequestType, ResponseURL, ResourceProperties: { ServiceToken: 'arn' } }
    const outcome = await handler
      .withDeps(deps)(event, { functionName: NAME } as Context)
      .catch((error: unknown) => error)
    const said: unknown[] = requests.map(({ body }) => JSON.parse(body))
    return { outcome, requests, said, answer: { ...ids, PhysicalResourceId: NAME } }
  }

  it('copies the tokens before it answers, so that the functions to come find both parts', async () => {
    const deps = aStage(older(NEW, OLD))
    const copiedBefore: boolean[] = []

    const { outcome, requests, said, answer } = await run(deps, 'Create', (response, request) => {
      copiedBefore.push(deps.secretValues.get(TOKENS) !== 'Generated')
      json(200, {})(response, request)
    })

    expect(outcome).toStrictEqual({ outcome: 'copied' })
    expect(copiedBefore).toStrictEqual([true])
    expect(said).toStrictEqual([{ ...answer, Status: 'SUCCESS' }])
    expect(requests).toMatchObject([{ method: 'PUT', url: '/answer?signature=s3cr3t' }])
    // A presigned address allows no type of content.
    expect(requests[0]?.headers['content-type'] ?? '').toBe('')
    expect(await readProviderKey(deps.secrets, 'test')).toBe(PROVIDER_KEY)
    expect(await readCallbackTokens(deps.secrets, 'test')).toStrictEqual([NEW, OLD])
  })

  it('refuses no callback meanwhile, run twice too: what the release before reads stays as it is', async () => {
    const deps = aStage(older(NEW, OLD))

    await run(deps)
    await run(deps)

    expect(deps.secretValues.get(KEY)).toBe(older(NEW, OLD))
    expect(await Promise.all([NEW, OLD].map((token) => isCallbackToken(deps, token)))).toStrictEqual([true, true])
  })

  const NOTHING = { outcome: 'nothing_to_copy' }

  it.each([
    ['a provider secret that nobody has filled in', 'x(7Generated', 'Create', NOTHING],
    ['a provider secret of this release', PROVIDER_SECRET, 'Create', NOTHING],
    ['a provider secret without tokens that ever worked', older('', 7), 'Create', NOTHING],
    ['an update: what operators put since then stays', older(OLD), 'Update', {}],
    ['a deletion', older(OLD), 'Delete', {}],
  ])('copies nothing at %s, and lets the deployment go on', async (_case, text, type, expected) => {
    const deps = aStage(text)

    const { outcome, said } = await run(deps, type)

    expect(outcome).toStrictEqual(expected)
    expect(said).toMatchObject([{ Status: 'SUCCESS' }])
    expect(deps.secretValues.get(TOKENS)).toBe('Generated')
  })

  it.each([
    [
      'tokens in use have under 16 characters, in words and without quoting them',
      aStage(older(NEW, 'fifteen-in-all-')),
      'gateway/test/provider: callback_tokens must be a list of one or two texts of 16 to 1,024 printable ASCII characters without spaces',
    ],
    [
      'the tokens cannot be copied, and says only where to look',
      stored({ [KEY]: older(NEW) }),
      `it broke off: see the log of ${NAME}`,
    ],
  ])('ends the deployment when %s', async (_case, deps, Reason) => {
    const before = deps.secretValues.get(TOKENS)

    const { said, answer } = await run(deps)

    expect(said).toStrictEqual([{ ...answer, Status: 'FAILED', Reason }])
    expect(deps.secretValues.get(TOKENS)).toBe(before)
  })

  it.each([
    ['refuses the answer', json(403, {})],
    ['cuts the connection', cut],
  ])('fails, to be run again, when CloudFormation %s', async (_case, script) => {
    const { outcome } = await run(aStage(older(NEW)), 'Create', script)

    expect(outcome).toStrictEqual(new Error('CloudFormation could not be answered'))
  })

  it('refuses what is no request of CloudFormation, without quoting it', async () => {
    const event = { ResponseURL: 'https://signed.example/s3cr3t' }

    const outcome = await thrownBy(handler.withDeps(testDeps())(event, { functionName: NAME } as Context))

    expect(outcome).toStrictEqual(new Error('this is no request of CloudFormation'))
  })

  it.each([
    ['copied', aStage(older(NEW, OLD))],
    ['refused', aStage(older('fifteen-in-all-'))],
    ['broken off', stored({ [KEY]: older(NEW) })],
  ])('logs neither key nor token nor the signed address: %s', async (_case, deps) => {
    await run(deps)

    expect(JSON.stringify(deps.lines)).not.toMatch(/xnd_|of-tests|fifteen|s3cr3t/)
  })
})
