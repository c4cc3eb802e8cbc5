import { receiveCallback } from '../../shared/payment/receive-callback.ts'
import { httpHandler } from '../../shared/runtime/http-handler.ts'

/** POST /callbacks/xendit: the provider's news. 503 asks the provider to send it again. */
export const handler = httpHandler(async ({ headers, rawBody }, deps) => {
  const outcome = await receiveCallback(deps, { token: headers['x-callback-token'], rawBody })
  return outcome === 'ask_again'
    ? { status: 503, body: { message: 'not applied yet; send it again', code: 'internal_error' } }
    : { status: 200, body: { outcome } }
})
