import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { callbackSecretName, isKnownSecret, type Secrets, storedFields } from '../secrets.ts'

// The minimum length prevents guessing, because the token alone authenticates a callback.
const CallbackToken = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{16,1024}$/))

/** One token, or two during a rotation. */
export const CallbackTokensSchema = v.pipe(v.array(CallbackToken), v.minLength(1), v.maxLength(2))

/** The error text for tokens of the wrong form. */
export const CALLBACK_TOKENS_RULE =
  'callback_tokens must be a list of one or two texts of 16 to 1,024 printable ASCII characters without spaces'

/**
 * Reads the callback tokens from their own secret, which only the callback function may read. Throws if the secret is
 * missing, malformed or unreadable; the error never contains its value.
 */
export const readCallbackTokens = async (
  secrets: Pick<Secrets, 'get'>,
  stage: string,
  fresh?: 'fresh',
): Promise<readonly string[]> => {
  const text = await secrets.get(callbackSecretName(stage), fresh)
  if (text === undefined) throw new Error('the callback secret is missing')
  const parsed = v.safeParse(CallbackTokensSchema, storedFields(text)?.['callback_tokens'])
  // No cause, because it would quote the secret.
  if (!parsed.success) throw new Error('the callback secret is malformed')
  return parsed.output
}

/** Whether a callback's token is valid. The comparison takes constant time. */
export const isCallbackToken = async (
  deps: Pick<Deps, 'secrets' | 'stage'>,
  token: string | undefined,
): Promise<boolean> => isKnownSecret((fresh) => readCallbackTokens(deps.secrets, deps.stage.name, fresh), token)
