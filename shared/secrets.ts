/** Secrets Manager as the gateway uses it. Values never leave the caller: not into logs, errors or the table. */
export type Secrets = {
  /** The value, from a cache of five minutes. Undefined when there is no such secret. Throws when it cannot be read. */
  get(name: string): Promise<string | undefined>
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
