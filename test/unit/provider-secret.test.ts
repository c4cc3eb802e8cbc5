import { describe, expect, it } from 'vitest'
import { isCallbackToken, readProviderSecret } from '../../shared/provider/provider-secret.ts'
import { providerSecretName } from '../../shared/secrets.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'
import { PROVIDER_KEY, PROVIDER_SECRET } from '../support/xendit-provider.ts'

const withSecret = (text: string | undefined): TestDeps => {
  const deps = testDeps()
  if (text !== undefined) deps.secretValues.set(providerSecretName('test'), text)
  return deps
}

describe('readProviderSecret', () => {
  it('reads key and tokens of its stage', async () => {
    const deps = withSecret(PROVIDER_SECRET)

    const secret = await readProviderSecret(deps.secrets, 'test')

    expect(secret).toStrictEqual({ secretKey: PROVIDER_KEY, callbackTokens: ['token-new', 'token-old'] })
    await expect(readProviderSecret(deps.secrets, 'production')).rejects.toThrow('the provider secret is missing')
  })

  it.each([
    'xnd_production_plain_text',
    '',
    'null',
    '[]',
    '{}',
    '{"secret_key":"xnd_1"}',
    '{"secret_key":"xnd_1","callback_tokens":[]}',
    '{"secret_key":"xnd_1","callback_tokens":["a","b","c"]}',
    '{"secret_key":"xnd_1","callback_tokens":[""]}',
    '{"secret_key":"","callback_tokens":["a"]}',
    '{"secret_key":"xnd_1\\nx-injected: 1","callback_tokens":["a"]}',
    '{"secret_key":7,"callback_tokens":["a"]}',
  ])('refuses %j without quoting it', async (text) => {
    const deps = withSecret(text)

    const error: unknown = await readProviderSecret(deps.secrets, 'test').catch((thrown: unknown) => thrown)

    expect(error).toStrictEqual(new Error('the provider secret is malformed'))
    expect(error).not.toHaveProperty('cause')
  })
})

describe('isCallbackToken (design section 4: two tokens, for rotation)', () => {
  it.each(['token-new', 'token-old'])('accepts %s', async (token) => {
    expect(await isCallbackToken(withSecret(PROVIDER_SECRET), token)).toBe(true)
  })

  it.each([undefined, '', 'token', 'token-new ', 'TOKEN-NEW', 'token-newtoken-old', 'token-new,token-old', '\u0000'])(
    'refuses %j',
    async (token) => {
      expect(await isCallbackToken(withSecret(PROVIDER_SECRET), token)).toBe(false)
    },
  )

  it('accepts the one token there is', async () => {
    const deps = withSecret('{"secret_key":"xnd_1","callback_tokens":["only"]}')

    expect(await isCallbackToken(deps, 'only')).toBe(true)
    expect(await isCallbackToken(deps, 'token-new')).toBe(false)
  })

  it('throws instead of refusing when it cannot know, so that the provider sends the callback again', async () => {
    await expect(isCallbackToken(withSecret(undefined), 'token-new')).rejects.toThrow('the provider secret is missing')
  })
})
