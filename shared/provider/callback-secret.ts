import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { isKnownSecret } from '../is-known-secret.ts'
import { callbackSecretName, type Secrets } from '../secrets.ts'
import { storedFields } from './stored-fields.ts'

// Long enough that nobody guesses one: the token is all that keeps strangers' callbacks out. The provider's have more.
const CallbackToken = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{16,1024}$/))

/** One, or two while one is being exchanged for the other. */
export const CallbackTokensSchema = v.pipe(v.array(CallbackToken), v.minLength(1), v.maxLength(2))

/** What callback tokens must be, in words. */
export const CALLBACK_TOKENS_RULE =
  'callback_tokens must be a list of one or two texts of 16 to 1,024 printable ASCII characters without spaces'

/**
 * The tokens that the provider shows us with its callbacks, from a secret of their own: only who receives callbacks may
 * read them. Throws when it is missing, malformed or cannot be read; the error says which and never what is in it.
 */
export const readCallbackTokens = async (
  secrets: Pick<Secrets, 'get'>,
  stage: string,
  fresh?: 'fresh',
): Promise<readonly string[]> => {
  const text = await secrets.get(callbackSecretName(stage), fresh)
  if (text === undefined) throw new Error('the callback secret is missing')
  const parsed = v.safeParse(CallbackTokensSchema, storedFields(text)?.['callback_tokens'])
  // Without its cause, which would quote the secret.
  if (!parsed.success) throw new Error('the callback secret is malformed')
  return parsed.output
}

/** What is wrong with the stored text, by field and never by value; empty when nothing is. For those who fill it in. */
export const callbackSecretProblems = (text: string): readonly string[] => {
  const fields = storedFields(text)
  if (fields === undefined) return ['it is not JSON with the field callback_tokens']
  return v.is(CallbackTokensSchema, fields['callback_tokens']) ? [] : [CALLBACK_TOKENS_RULE]
}

/** Whether a callback's token is one of ours; the time taken tells nothing about them. */
export const isCallbackToken = async (
  deps: Pick<Deps, 'secrets' | 'stage'>,
  token: string | undefined,
): Promise<boolean> => isKnownSecret((fresh) => readCallbackTokens(deps.secrets, deps.stage.name, fresh), token)
