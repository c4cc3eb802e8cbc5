import { json, startScriptedServer } from './scripted-server.ts'

/** Our API as far as callbacks go, as `receive-provider-callback` answers. */
export const callbackApi = () =>
  startScriptedServer((response, request) => {
    const token = request.headers['x-callback-token']
    const right = token === 'the-old-token-of-tests' || token === 'the-new-token-of-tests'
    json(right ? 200 : 401, right ? { outcome: 'ignored' } : { code: 'auth' })(response, request)
  })

/** The provider as far as its two reads go. */
export const providerApi = () =>
  startScriptedServer((response, request) => {
    const answer = request.url.startsWith('/transactions') ? json(200, { data: [], has_more: false }) : json(404, {})
    answer(response, request)
  })
