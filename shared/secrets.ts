import { createHash, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'

/** A caller never writes a value to logs, errors or the table. */
export type Secrets = {
  /**
   * Cached for half an hour; `fresh`, after a mismatch: for a minute. Undefined if there is no
   * secret.
   */
  get(name: string, fresh?: 'fresh'): Promise<string | undefined>
}

/** JSON `{"secret_key"}`: authenticates us to the provider. */
export function providerSecretName(stage: string) {
  return `gateway/${stage}/provider`
}

/**
 * JSON `{"callback_tokens": [one, or two during a rotation]}`: authenticates the provider's
 * callbacks.
 */
export function callbackSecretName(stage: string) {
  return `gateway/${stage}/provider-callback`
}

/** JSON `{"current", "previous"}` of the front. `previous` only during a rotation. */
export function originSecretName(stage: string) {
  return `gateway/${stage}/origin`
}

/**
 * The owner of a sealed secret. The secret can be unsealed only for this client and endpoint, in
 * the same stage.
 */
export type SealedFor = { readonly clientId: string; readonly endpointId: string }

/** Encrypts the signing secrets of endpoints, so that the table has no readable secret. */
export type Sealer = {
  seal(secret: string, owner: SealedFor): Promise<string>
  /** Cached for five minutes. Undefined if this stage did not seal the secret for this owner. */
  unseal(sealed: string, owner: SealedFor): Promise<string | undefined>
}

/** The encryption context of a sealed secret. KMS writes it to the AWS account's trail. */
export function sealContext(
  stage: string,
  { clientId, endpointId }: SealedFor,
): Record<string, string> {
  return { stage, client: clientId, endpoint: endpointId }
}

/**
 * Throws if the secret is missing, malformed or unreadable. The error never has the value. A
 * malformed secret is read again, because a person may have corrected it.
 */
export async function readSecret<Schema extends v.GenericSchema>(
  secrets: Pick<Secrets, 'get'>,
  name: string,
  schema: Schema,
  fresh: 'fresh' | undefined,
): Promise<v.InferOutput<Schema>> {
  for (const asked of [fresh, 'fresh'] as const) {
    const text = await secrets.get(name, asked)
    if (text === undefined) throw new Error(`the secret ${name} is missing`)
    const parsed = v.safeParse(schema, text)
    if (parsed.success) return parsed.output
  }
  // No cause, because it would quote the secret.
  throw new Error(`the secret ${name} is malformed`)
}

/**
 * Hashes are compared in constant time, so the time reveals neither a partial match nor which
 * secret matched. After a mismatch the secrets are read again, because of rotations.
 */
export async function isKnownSecret(
  read: (fresh?: 'fresh') => Promise<readonly string[]>,
  value: string | undefined,
): Promise<boolean> {
  const secrets = await read()
  return value !== undefined && (isAmong(secrets, value) || isAmong(await read('fresh'), value))
}

function isAmong(secrets: readonly string[], value: string) {
  return secrets.map((secret) => timingSafeEqual(digest(value), digest(secret))).includes(true)
}

function digest(text: string) {
  return createHash('sha256').update(text).digest()
}
