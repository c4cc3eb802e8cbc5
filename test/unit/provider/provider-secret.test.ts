import { describe, expect, it } from 'vitest'
import { isCallbackToken, readCallbackTokens } from '../../../shared/provider/callback-secret.ts'
import { readProviderKey } from '../../../shared/provider/provider-secret.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { PROVIDER_KEY, PROVIDER_SECRET } from '../../support/xendit-provider.ts'

const withSecret = (name: string, text: string | undefined): TestDeps => {
  const deps = testDeps()
  if (text !== undefined) deps.secretValues.set(name, text)
  return deps
}
const withKey = (text: string | undefined) => withSecret(providerSecretName('test'), text)
const withTokens = (text: string | undefined) => withSecret(callbackSecretName('test'), text)

const [NEW, OLD] = ['the-new-token-of-tests', 'the-old-token-of-tests']
const TOKENS = JSON.stringify({ callback_tokens: [NEW, OLD] })

const thrownBy = (read: Promise<unknown>) => read.then(() => undefined).catch((thrown: unknown) => thrown)

describe('readProviderKey', () => {
  it('reads the key of its stage', async () => {
    const { secrets } = withKey(PROVIDER_SECRET)

    expect(await readProviderKey(secrets, 'test')).toBe(PROVIDER_KEY)
    await expect(readProviderKey(secrets, 'production')).rejects.toThrow('the provider secret is missing')
  })

  it('reads the key from the secret that an older release was given, with tokens in it', async () => {
    const text = JSON.stringify({ secret_key: PROVIDER_KEY, callback_tokens: ['short'] })

    expect(await readProviderKey(withKey(text).secrets, 'test')).toBe(PROVIDER_KEY)
  })

  it.each([
    'xnd_production_plain_text',
    '',
    'null',
    '[]',
    '{}',
    '{"secret_key":""}',
    '{"secret_key":"xnd_1\\nx-injected: 1"}',
    '{"secret_key":7}',
  ])('refuses %j without quoting it', async (text) => {
    const error = await thrownBy(readProviderKey(withKey(text).secrets, 'test'))

    expect(error).toStrictEqual(new Error('the provider secret is malformed'))
    expect(error).not.toHaveProperty('cause')
  })
})

describe('readCallbackTokens', () => {
  it('reads one token, or two while one is exchanged for the other, of 16 characters or more', async () => {
    expect(await readCallbackTokens(withTokens(TOKENS).secrets, 'test')).toStrictEqual([NEW, OLD])
    expect(
      await readCallbackTokens(withTokens('{"callback_tokens":["sixteen-in-all-1"]}').secrets, 'test'),
    ).toStrictEqual(['sixteen-in-all-1'])
  })

  it.each([
    'a-plain-token-of-16-characters',
    '{}',
    '{"callback_tokens":[]}',
    '{"callback_tokens":"a-plain-token-of-tests"}',
    '{"callback_tokens":["fifteen-in-all-"]}',
    '{"callback_tokens":["the-new-token-of-tests","short"]}',
    '{"callback_tokens":["sixteen-in-all-1","sixteen-in-all-2","sixteen-in-all-3"]}',
    '{"callback_tokens":["with spaces in it"]}',
  ])('refuses %j without quoting it', async (text) => {
    const error = await thrownBy(readCallbackTokens(withTokens(text).secrets, 'test'))

    expect(error).toStrictEqual(new Error('the callback secret is malformed'))
    expect(error).not.toHaveProperty('cause')
  })
})

describe('isCallbackToken (design section 4: two tokens, for rotation)', () => {
  it.each([NEW, OLD])('accepts %s', async (token) => {
    expect(await isCallbackToken(withTokens(TOKENS), token)).toBe(true)
  })

  it.each([undefined, '', 'token', `${NEW} `, NEW?.toUpperCase(), `${NEW}${OLD}`, `${NEW},${OLD}`, '\u0000'])(
    'refuses %j',
    async (token) => {
      expect(await isCallbackToken(withTokens(TOKENS), token)).toBe(false)
    },
  )

  it('throws instead of refusing when it cannot know, so that the provider sends the callback again', async () => {
    await expect(isCallbackToken(withTokens(undefined), NEW)).rejects.toThrow('the callback secret is missing')
  })

  it('does not look for tokens beside the key', async () => {
    const deps = withKey(JSON.stringify({ secret_key: PROVIDER_KEY, callback_tokens: [NEW] }))

    await expect(isCallbackToken(deps, NEW)).rejects.toThrow('the callback secret is missing')
  })
})
