import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { toErrorReply } from '../envelope.ts'

type HttpMiddleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>

/**
 * Outermost part of everything that answers HTTP: the error envelope (spec section 7), the request id in the
 * `X-Request-Id` header and in one log line per request. The line has the route's template, never a path or a query.
 */
export const httpEnvelope = (deps: Pick<Deps, 'log' | 'monotonicMs'>): HttpMiddleware => {
  const started = new WeakMap<object, number>()

  const line = (event: APIGatewayProxyEventV2, status: number) => ({
    request_id: event.requestContext.requestId,
    route: event.routeKey,
    status,
    duration_ms: Math.round(deps.monotonicMs() - (started.get(event) ?? deps.monotonicMs())),
  })

  return {
    before: ({ event }) => {
      started.set(event, deps.monotonicMs())
    },
    after: (request) => {
      const { event, response } = request
      if (!response) return
      response.headers = { ...response.headers, 'x-request-id': event.requestContext.requestId }
      deps.log.info('request.completed', line(event, response.statusCode ?? 200))
    },
    onError: (request) => {
      const { event, error } = request
      const { status, body, retryAfterSeconds, expected } = toErrorReply(error)
      if (expected) deps.log.info('request.completed', { ...line(event, status), code: body.code })
      else deps.log.error('request.failed', { ...line(event, status), code: body.code }, error)
      request.response = {
        statusCode: status,
        headers: {
          'content-type': 'application/json',
          'x-request-id': event.requestContext.requestId,
          ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
        },
        body: JSON.stringify(body),
      }
    },
  }
}
