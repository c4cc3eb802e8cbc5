/** The simulator accepts calls with this key, and sends this token in its callbacks. */
export const PROVIDER_KEY = 'xnd_development_local'
export const CALLBACK_TOKEN = 'local-callback-token'

export const PROVIDER_HEADERS = {
  authorization: `Basic ${btoa(`${PROVIDER_KEY}:`)}`,
  'api-version': '2024-11-11',
}
