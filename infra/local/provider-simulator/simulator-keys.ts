/** The simulator accepts calls with this key, and sends this token in its callbacks. */
export const PROVIDER_KEY = 'xnd_development_local'
export const CALLBACK_TOKEN = 'local-callback-token'

export function providerHeaders(secretKey: string) {
  return { authorization: `Basic ${btoa(`${secretKey}:`)}`, 'api-version': '2024-11-11' }
}

export const PROVIDER_HEADERS = providerHeaders(PROVIDER_KEY)
