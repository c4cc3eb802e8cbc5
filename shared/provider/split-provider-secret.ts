import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { callbackSecretName, providerSecretName } from '../secrets.ts'
import { CALLBACK_TOKENS_RULE, CallbackTokensSchema } from './callback-secret.ts'
import { storedFields } from './stored-fields.ts'

/** What an older release took for a token. */
const OlderTokensSchema = v.pipe(
  v.array(v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/))),
  v.minLength(1),
  v.maxLength(2),
)

export type TokensToCopy =
  | { readonly kind: 'tokens'; readonly tokens: readonly string[] }
  /** Nobody has filled in the secret, or its tokens have been taken out already. */
  | { readonly kind: 'none' }
  /** In use, and from now on no tokens; `because` quotes none of them. */
  | { readonly kind: 'refused'; readonly because: string }

/** The callback tokens in a provider secret's text, as an older release was given them. */
export const tokensToCopy = (text: string | undefined): TokensToCopy => {
  const tokens = text === undefined ? undefined : storedFields(text)?.['callback_tokens']
  if (!v.is(OlderTokensSchema, tokens)) return { kind: 'none' }
  return v.is(CallbackTokensSchema, tokens)
    ? { kind: 'tokens', tokens }
    : { kind: 'refused', because: CALLBACK_TOKENS_RULE }
}

/**
 * Older releases kept the provider's key and the callback tokens in one secret. The key stays where it is and the tokens
 * are copied to the secret of their own, before any function looks for them there. They also stay, for the release
 * before to go back to, until an operator takes them out (docs/operations.md, section 4). Repeating it does the same.
 *
 * Throws when tokens that are in use would be refused from now on; then nothing is written.
 */
export const splitProviderSecret = async ({
  secrets,
  stage: { name },
}: Pick<Deps, 'secrets' | 'stage'>): Promise<{ readonly outcome: 'copied' | 'nothing_to_copy' }> => {
  const found = tokensToCopy(await secrets.get(providerSecretName(name)))
  if (found.kind === 'none') return { outcome: 'nothing_to_copy' }
  if (found.kind === 'refused') throw invalid(`${providerSecretName(name)}: ${found.because}`)
  await secrets.replace(callbackSecretName(name), JSON.stringify({ callback_tokens: found.tokens }))
  return { outcome: 'copied' }
}
