import { createHash, timingSafeEqual } from 'node:crypto'
import * as v from 'valibot'

/** The secrets port. A caller never writes a value to logs, errors or the table. */
export type Secrets = {
  /** The value, cached for half an hour; undefined if there is none. `fresh`, after a mismatch: for a minute. */
  get(name: string, fresh?: 'fresh'): Promise<string | undefined>
}

/** JSON `{"secret_key"}`: authenticates us to the provider. */
export function providerSecretName(stage: string) {
  return `gateway/${stage}/provider`
}

/** JSON `{"callback_tokens": [one, or two during a rotation]}`: authenticates the provider's callbacks. */
export function callbackSecretName(stage: string) {
  return `gateway/${stage}/provider-callback`
}

/** JSON `{"current", "previous"}`: the front adds the value to requests. `previous` only during a rotation. */
export function originSecretName(stage: string) {
  return `gateway/${stage}/origin`
}

/** The owner of a sealed secret. It can be unsealed only for this client and endpoint of this stage. */
export type SealedFor = { readonly clientId: string; readonly endpointId: string }

/** Encrypts the signing secrets of endpoints, so that the table has no readable secret. */
export type Sealer = {
  seal(secret: string, owner: SealedFor): Promise<string>
  /** The secret, cached for five minutes. Undefined if this stage did not seal it for this owner. */
  unseal(sealed: string, owner: SealedFor): Promise<string | undefined>
}

/** The encryption context of a sealed secret. KMS writes it to the AWS account's trail. */
export function sealContext(
  stage: string,
  { clientId, endpointId }: SealedFor,
): Record<string, string> {
  return { stage, client: clientId, endpoint: endpointId }
}

/** Reads and parses a secret. Throws if it is missing, malformed or unreadable; the error never has its value. */
export async function readSecret<Schema extends v.GenericSchema>(
  secrets: Pick<Secrets, 'get'>,
  what: string,
  name: string,
  schema: Schema,
  fresh: 'fresh' | undefined,
): Promise<v.InferOutput<Schema>> {
  const text = await secrets.get(name, fresh)
  if (text === undefined) throw new Error(`the ${what} secret is missing`)
  const parsed = v.safeParse(schema, text)
  // No cause, because it would quote the secret.
  if (!parsed.success) throw new Error(`the ${what} secret is malformed`)
  return parsed.output
}

/**
 * Whether a value is one of the known secrets. Hashes are compared in constant time, so the time reveals neither a
 * partial match nor which secret matched. After a mismatch the secrets are read again, because they may have been
 * rotated.
 */
export async function isKnownSecret(
  read: (fresh?: 'fresh') => Promise<readonly string[]>,
  given: string | undefined,
): Promise<boolean> {
  const known = await read()
  return given !== undefined && (isAmong(known, given) || isAmong(await read('fresh'), given))
}

function isAmong(known: readonly string[], given: string): boolean {
  return known.map((secret) => timingSafeEqual(digest(given), digest(secret))).includes(true)
}

function digest(text: string) {
  return createHash('sha256').update(text).digest()
}
