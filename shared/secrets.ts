/** Secrets Manager as the gateway uses it. Values never leave the caller: not into logs, errors or the table. */
export type Secrets = {
  /**
   * The value, from a cache of half an hour. Undefined when there is no such secret. Throws when it cannot be read.
   * `fresh`: at most a minute old, because an older value does not fit.
   */
  get(name: string, fresh?: 'fresh'): Promise<string | undefined>
}

/** JSON `{"secret_key"}`: what we show the provider. */
export const providerSecretName = (stage: string) => `gateway/${stage}/provider`

/** JSON `{"callback_tokens": [one, or two during a rotation]}`: what the provider shows us. */
export const callbackSecretName = (stage: string) => `gateway/${stage}/provider-callback`

/**
 * JSON `{"current", "previous"}`: what the front adds to every request, so that none comes in past it. `previous` is
 * there while one value is being exchanged for the other.
 */
export const originSecretName = (stage: string) => `gateway/${stage}/origin`

/** Whose secret it is. A sealed secret opens for this client and endpoint of this stage alone. */
export type SealedFor = { readonly clientId: string; readonly endpointId: string }

/** Seals the signing secrets of endpoints, so that their rows keep nothing that can be read. */
export type Sealer = {
  /** The sealed secret, in base64. */
  seal(secret: string, owner: SealedFor): Promise<string>
  /**
   * The secret, from a cache of five minutes. Undefined when the text is none that this stage sealed for this owner.
   * Throws when it cannot be read now.
   */
  unseal(sealed: string, owner: SealedFor): Promise<string | undefined>
}

/** What a secret is sealed under besides the key, by name. KMS writes it into the account's trail. */
export const sealContext = (stage: string, { clientId, endpointId }: SealedFor): Record<string, string> => ({
  stage,
  client: clientId,
  endpoint: endpointId,
})
