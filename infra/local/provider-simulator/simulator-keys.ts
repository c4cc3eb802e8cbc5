/** What the simulator expects of us, and what it shows us. */
export const PROVIDER_KEY = 'xnd_development_local'
export const CALLBACK_TOKEN = 'local-callback-token'
