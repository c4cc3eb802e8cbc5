import { notFound } from '../../shared/errors.ts'
import { httpHandler } from '../../shared/runtime/http-handler.ts'

/** Whatever no route matches answers 404 `not_found` in the envelope (spec section 7). */
export const handler = httpHandler(async () => {
  throw notFound('resource')
})
