import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { isOneOf } from '../same-secret.ts'
import { providerSecretName, type Secrets } from '../secrets.ts'

// Printable ASCII without spaces: anything else could not travel in a header.
const HeaderValue = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,1024}$/))

const ProviderSecretSchema = v.object({
  secretKey: HeaderValue,
  callbackTokens: v.pipe(v.array(HeaderValue), v.minLength(1), v.maxLength(2)),
})
export type ProviderSecret = v.InferOutput<typeof ProviderSecretSchema>

/**
 * What we show the provider and what it shows us, from the stage's secret. Two callback tokens are valid while one is
 * being exchanged for the other. Throws when the secret is missing, malformed or cannot be read; the error says which
 * and never what is in it.
 */
export const readProviderSecret = async (secrets: Pick<Secrets, 'get'>, stage: string): Promise<ProviderSecret> => {
  const text = await secrets.get(providerSecretName(stage))
  if (text === undefined) throw new Error('the provider secret is missing')
  const parsed = v.safeParse(ProviderSecretSchema, fieldsOf(text))
  // Without its cause, which would quote the secret.
  if (!parsed.success) throw new Error('the provider secret is malformed')
  return parsed.output
}

const StoredSchema = v.object({ secret_key: v.unknown(), callback_tokens: v.unknown() })

const fieldsOf = (text: string): { readonly secretKey: unknown; readonly callbackTokens: unknown } | undefined => {
  try {
    const stored = v.parse(StoredSchema, JSON.parse(text))
    return { secretKey: stored.secret_key, callbackTokens: stored.callback_tokens }
  } catch {
    return undefined
  }
}

/** What is wrong with the stored text, by field and never by value; empty when nothing is. For those who fill it in. */
export const providerSecretProblems = (text: string): readonly string[] => {
  const fields = fieldsOf(text)
  if (fields === undefined) return ['it is not JSON with the fields secret_key and callback_tokens']
  return [
    ...(v.is(HeaderValue, fields.secretKey)
      ? []
      : ['secret_key must be 1 to 1,024 printable ASCII characters without spaces']),
    ...(v.is(ProviderSecretSchema.entries.callbackTokens, fields.callbackTokens)
      ? []
      : ['callback_tokens must be a list of one or two texts of 1 to 1,024 printable ASCII characters without spaces']),
  ]
}

/** Whether a callback's token is one of ours; the time taken tells nothing about them. */
export const isCallbackToken = async (
  deps: Pick<Deps, 'secrets' | 'stage'>,
  token: string | undefined,
): Promise<boolean> => {
  const { callbackTokens } = await readProviderSecret(deps.secrets, deps.stage.name)
  return isOneOf(callbackTokens, token)
}
