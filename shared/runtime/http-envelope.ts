import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { toErrorReply } from '../errors.ts'
import { notedCaller } from './joining-log.ts'

type HttpMiddleware = MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>

/** Answer early enough that the caller gets our envelope and not the platform's. */
export const TIMEOUT_EARLY_MS = 500

/** For two years, and for the API's own name alone: what else its owner serves in the zone is not ours to bind. */
const HTTPS_ONLY = { 'strict-transport-security': 'max-age=63072000' }

/** CloudFront's id of the request; without a front anybody may send one, so only its form gets into a log. */
const frontIdOf = ({ headers }: APIGatewayProxyEventV2) => {
  const id = /^[\w=-]{1,128}$/.exec(headers['x-amz-cf-id'] ?? '')?.[0]
  return id === undefined ? {} : { front_request_id: id }
}

/**
 * Outermost part of everything that answers HTTP: the error envelope (spec section 7), the headers of every answer, the
 * request id in the `X-Request-Id` header and in one log line per request. The line has the route's template, never a
 * path or a query; the front's request id, under which the front's log has the address; and, of a client's request, client
 * and key.
 */
export const httpEnvelope = (deps: Pick<Deps, 'log' | 'monotonicMs' | 'stage'>): HttpMiddleware => {
  const started = new WeakMap<object, number>()

  const headersOf = (event: APIGatewayProxyEventV2) => ({
    'content-type': 'application/json',
    // Balances, destinations, personal data: for whoever asked with a key, and for no cache on the way.
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(deps.stage.hasDomain === true && HTTPS_ONLY),
    'x-request-id': event.requestContext.requestId,
  })

  const line = (event: APIGatewayProxyEventV2, status: number) => ({
    request_id: event.requestContext.requestId,
    ...frontIdOf(event),
    ...notedCaller(),
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
      const { 'content-type': type, ...others } = headersOf(event)
      response.headers = { 'content-type': type, ...response.headers, ...others }
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
          ...headersOf(event),
          ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
        },
        body: JSON.stringify(body),
      }
    },
  }
}
