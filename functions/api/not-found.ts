import { notFound } from '../../shared/errors.ts'
import { httpHandler } from '../../shared/runtime/http-handler.ts'

/** Answers 404 `not_found` in the envelope for every path without a route (spec section 7). */
export const handler = httpHandler(async () => {
  throw notFound('resource')
})
