import { describe, expect, it, vi } from 'vitest'
import {
  isCallbackSecret,
  isCallbackToken,
  isProviderSecret,
  readCallbackTokens,
  readProviderKey,
} from '../../../shared/provider/provider-secrets.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { PROVIDER_KEY, PROVIDER_SECRET } from '../../support/scripted-provider.ts'
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

describe('the secrets of a stage', () => {
  it('are its own: one key of the provider', async () => {
    const { secrets } = stored({ [KEY]: PROVIDER_SECRET })

    expect(await readProviderKey(secrets, 'test')).toBe(PROVIDER_KEY)
    expect(isProviderSecret(PROVIDER_SECRET)).toBe(true)
    await expect(readProviderKey(secrets, 'production')).rejects.toThrow('the provider secret is missing')
  })

  it.each([[[NEW, OLD]], [['sixteen-in-all-1']]])('are one token, or two during an exchange: %j', async (list) => {
    const deps = stored({ [TOKENS]: tokens(...list) })

    expect(await readCallbackTokens(deps.secrets, 'test')).toStrictEqual(list)
    expect(isCallbackSecret(tokens(...list))).toBe(true)
    for (const token of list) expect(await isCallbackToken(deps, token)).toBe(true)
  })
})

const NO_SECRET = ['a-plain-text-of-tests', '', 'null', '[]', '{}']
const MALFORMED = {
  provider: [...NO_SECRET, ...['', 7, 'xnd_1\nx-injected: 1'].map((key) => JSON.stringify({ secret_key: key }))],
  callback: [
    ...NO_SECRET,
    '{"callback_tokens":"a-plain-token-of-tests"}',
    ...[[], ['fifteen-in-all-'], [NEW, 'short'], [NEW, OLD, NEW], ['with spaces in it']].map((list) => tokens(...list)),
  ],
}

it.each([
  ...MALFORMED.provider.map((text) => ['provider', text, readProviderKey, isProviderSecret] as const),
  ...MALFORMED.callback.map((text) => ['callback', text, readCallbackTokens, isCallbackSecret] as const),
])('the %s secret is refused without quoting it: %j', async (which, text, read, isValid) => {
  const { secrets } = stored({ [KEY]: text, [TOKENS]: text })

  const error = await read(secrets, 'test').catch((thrown: unknown) => thrown)

  expect(error).toStrictEqual(new Error(`the ${which} secret is malformed`))
  expect(error).not.toHaveProperty('cause')
  expect(isValid(text)).toBe(false)
})

// Tokens that are nearly right: `fuzz-callbacks.test.ts`. A secret that is not there: `api-envelope.test.ts`, 500.
it.each([
  [OLD, true, [undefined]],
  [NEW, true, [undefined, 'fresh']],
  ['a-token-of-a-stranger', false, [undefined, 'fresh']],
  [undefined, false, [undefined]],
])(
  'isCallbackToken asks for fresh tokens only where %s is none of those in the cache',
  async (token, accepted, asked) => {
    const get = vi.fn(async (_name: string, fresh?: 'fresh') => tokens(fresh ? NEW : OLD))

    expect(await isCallbackToken({ ...testDeps(), secrets: { get } }, token)).toBe(accepted)
    expect(get.mock.calls.map(([, fresh]) => fresh)).toStrictEqual(asked)
  },
)
