import { GatewayError, toErrorReply } from '../../shared/errors.ts'
import { receiveCallback } from '../../shared/payment/news/receive-callback.ts'
import { isCallbackToken } from '../../shared/provider/provider-secrets.ts'
import { parseCallback } from '../../shared/provider/xendit/parse-callback.ts'
import { httpHandler } from '../../shared/runtime/http-handler.ts'

const NOT_APPLIED_YET = new GatewayError('internal_error', 'not applied yet; send it again')

/** POST /callbacks/{provider}: answers 200 or 401, or 500 to make the provider retry. */
export const handler = httpHandler(async ({ headers, rawBody }, deps) => {
  const isGenuine = await isCallbackToken(deps, headers['x-callback-token'])
  const outcome = await receiveCallback(deps, { isGenuine, rawBody, parse: parseCallback })
  return outcome === 'ask_again'
    ? toErrorReply(NOT_APPLIED_YET)
    : { status: 200, body: { outcome } }
})
