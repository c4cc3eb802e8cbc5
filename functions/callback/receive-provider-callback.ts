import { GatewayError, toErrorReply } from '../../shared/errors.ts'
import { receiveCallback } from '../../shared/payment/news/receive-callback.ts'
import { parseCallback } from '../../shared/provider/xendit/parse-callback.ts'
import { httpHandler } from '../../shared/runtime/http-handler.ts'

const NOT_YET = new GatewayError('internal_error', 'not applied yet; send it again')

/** POST /callbacks/xendit: the provider's news. 5xx asks the provider to send it again; 503: it takes no questions now. */
export const handler = httpHandler(async ({ headers, rawBody }, deps) => {
  const outcome = await receiveCallback(deps, { token: headers['x-callback-token'], rawBody, parse: parseCallback })
  if (outcome === 'put_off') return { ...toErrorReply(NOT_YET), status: 503 }
  return outcome === 'ask_again' ? toErrorReply(NOT_YET) : { status: 200, body: { outcome } }
})
