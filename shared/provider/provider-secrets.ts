import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import {
  callbackSecretName,
  isKnownSecret,
  providerSecretName,
  readSecret,
  type Secrets,
} from '../secrets.ts'

// Printable ASCII without spaces, because a header allows nothing else.
const ProviderKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/))
const ProviderSecret = v.pipe(v.string(), v.parseJson(), v.object({ secret_key: ProviderKey }))

export async function readProviderKey(
  secrets: Pick<Secrets, 'get'>,
  stage: string,
  fresh?: 'fresh',
): Promise<string> {
  return (await readSecret(secrets, providerSecretName(stage), ProviderSecret, fresh)).secret_key
}

// The minimum length prevents guessing, because the token alone authenticates a callback.
const CallbackToken = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{16,1024}$/))
/** One token, or two during a rotation. */
const CallbackTokens = v.pipe(v.array(CallbackToken), v.minLength(1), v.maxLength(2))
const CallbackSecret = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ callback_tokens: CallbackTokens }),
)

/** Only the callback function may read this secret. */
export async function readCallbackTokens(
  secrets: Pick<Secrets, 'get'>,
  stage: string,
  fresh?: 'fresh',
) {
  return (await readSecret(secrets, callbackSecretName(stage), CallbackSecret, fresh))
    .callback_tokens
}

export function isCallbackToken(
  deps: Pick<Deps, 'secrets' | 'stage'>,
  token: string | undefined,
): Promise<boolean> {
  return isKnownSecret((fresh) => readCallbackTokens(deps.secrets, deps.stage.name, fresh), token)
}

/** Checked for the operator who sets the secret. */
export function isProviderSecret(text: string): boolean {
  return v.is(ProviderSecret, text)
}
export function isCallbackSecret(text: string): boolean {
  return v.is(CallbackSecret, text)
}
