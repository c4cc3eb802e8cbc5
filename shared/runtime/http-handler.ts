import middy, { type MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { GatewayError, toErrorReply } from '../errors.ts'
import { toJson } from '../json.ts'
import { type InjectableHandler, injectable } from './injectable.ts'
import { inOneLine, notedCaller } from './json-log.ts'
import { assertFromFront } from './origin-guard.ts'
import { isRouteProbe } from './release/probe.ts'

// fetch loads its implementation when it is first needed. A caller must not wait for that. The literal is the bundler's.
if (!process.env['WITHHOLD_PROVIDER']) void new Headers()

export type HttpRequest = Pick<APIGatewayProxyEventV2, 'headers' | 'pathParameters' | 'queryStringParameters'> & {
  readonly isGet: boolean
  readonly rawBody: Buffer
}

export type HttpReply = {
  readonly status: number
  /** Text is sent unchanged; it is JSON unless the headers name another type. */
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
}

/** Wraps an HTTP function: envelope and request id first, then the closed stage and the origin check. */
export const httpHandler = (
  run: (request: HttpRequest, deps: Deps) => Promise<HttpReply>,
): InjectableHandler<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> =>
  injectable((deps) => {
    const answer = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>({
      timeoutEarlyInMillis: TIMEOUT_EARLY_MS,
    })
      .use(httpEnvelope(deps))
      .handler(async (event) => {
        assertOpen(deps, event)
        await assertFromFront(deps, event)
        const rawBody = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
        const { status, body, headers } = await run(
          { ...event, isGet: event.routeKey.startsWith('GET '), rawBody },
          deps,
        )
        const text = typeof body === 'string' ? body : toJson(body)
        return { statusCode: status, ...(headers && { headers: { ...headers } }), body: text }
      })
    return (event, context) => inOneLine(() => answer(event, context))
  })

/** A closed stage answers 500 and reads nothing. A probe passes, so that a closed release can be proven. */
const assertOpen = ({ stage }: Pick<Deps, 'stage'>, event: APIGatewayProxyEventV2): void => {
  if (stage.isClosed !== true || isRouteProbe(event)) return
  throw new GatewayError('internal_error', 'the gateway is closed for maintenance', {
    actionHint: 'Send the same request again later, with the same Idempotency-Key.',
  })
}

type HttpMiddleware = MiddlewareObj<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Error,
  Context,
  { startedMs?: number }
>
type Noted = Pick<Parameters<NonNullable<HttpMiddleware['before']>>[0], 'event' | 'internal'>

/** Ends a request this early before the timeout, so that the caller gets our envelope instead of the platform's. */
export const TIMEOUT_EARLY_MS = 500

/** Two years, without subdomains, because the owner may serve other hosts in the zone. */
const HTTPS_ONLY = { 'strict-transport-security': 'max-age=63072000' }

/** CloudFront's request id. Without a front the caller can set the header, so only the exact form is logged. */
const frontIdOf = ({ headers }: APIGatewayProxyEventV2) => {
  const id = /^[\w=-]{1,128}$/.exec(headers['x-amz-cf-id'] ?? '')?.[0]
  return id === undefined ? {} : { front_request_id: id }
}

/**
 * The outermost middleware of every HTTP handler: error envelope (spec section 7), headers, `X-Request-Id` and one log
 * line for each request. The line has the route's template, never a path or query. It has the front's request id, with
 * which the front's log shows the caller's address, and the client and key.
 */
const httpEnvelope = (deps: Pick<Deps, 'log' | 'monotonicMs' | 'stage'>): HttpMiddleware => {
  const headersOf = (event: APIGatewayProxyEventV2) => ({
    'content-type': 'application/json',
    // No cache may store balances, destinations or personal data.
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(deps.stage.hasDomain === true && HTTPS_ONLY),
    'x-request-id': event.requestContext.requestId,
  })

  const line = ({ event, internal }: Noted, status: number) => ({
    request_id: event.requestContext.requestId,
    ...frontIdOf(event),
    ...notedCaller(),
    route: event.routeKey,
    status,
    duration_ms: Math.round(deps.monotonicMs() - (internal.startedMs ?? deps.monotonicMs())),
  })

  return {
    before: ({ internal }) => {
      internal.startedMs = deps.monotonicMs()
    },
    after: (request) => {
      const { event, response } = request
      if (!response) return
      const { 'content-type': type, ...others } = headersOf(event)
      response.headers = { 'content-type': type, ...response.headers, ...others }
      deps.log.info('request.completed', line(request, response.statusCode ?? 200))
    },
    onError: (request) => {
      const { event, error } = request
      const { status, body, retryAfterSeconds, expected } = toErrorReply(error)
      if (expected) deps.log.info('request.completed', { ...line(request, status), code: body.code })
      else deps.log.error('request.failed', { ...line(request, status), code: body.code }, error)
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
