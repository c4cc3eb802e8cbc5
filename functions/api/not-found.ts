import { notFound } from '../../shared/errors.ts'
import { httpHandler } from '../../shared/runtime/http-handler.ts'

/** A request that matches no route gets 404 `not_found` in the envelope (spec section 7). */
export const handler = httpHandler(async () => {
  throw notFound('resource')
})
