import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { GatewayError, toErrorReply } from '../errors.ts'
import { toJson } from '../json.ts'
import { type InjectableHandler, injectable } from './injectable.ts'
import { callerFields, logInOneLine } from './json-log.ts'
import { assertFromFront } from './origin-guard.ts'
import { isRouteProbe } from './release/probe.ts'

// `fetch` loads its implementation at the first use. No caller must wait for that. The bundler sets
// the variable.
if (!process.env['WITHHOLD_PROVIDER']) void new Headers()

export type HttpRequest = Pick<
  APIGatewayProxyEventV2,
  'headers' | 'pathParameters' | 'queryStringParameters'
> & { readonly isGet: boolean; readonly rawBody: Buffer }

export type HttpReply = {
  readonly status: number
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Ends a request this early before the timeout, so that the caller gets our envelope instead of the
 * platform's.
 */
export const TIMEOUT_EARLY_MS = 500

/**
 * HTTPS only for two years, without subdomains, because the owner may serve other hosts in the
 * zone.
 */
const HTTPS_ONLY = { 'strict-transport-security': 'max-age=63072000' }

const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * Wraps an HTTP function: envelope and request id first, then the checks of a closed stage and of
 * the origin.
 */
export function httpHandler(
  run: (request: HttpRequest, deps: Deps) => Promise<HttpReply>,
): InjectableHandler<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> {
  return injectable((deps) => {
    const answer = middy<APIGatewayProxyEventV2, HttpReply>({
      timeoutEarlyInMillis: TIMEOUT_EARLY_MS,
    }).handler(async (event) => {
      // A closed stage answers 500 and reads nothing. It answers a probe, so that a closed release
      // can be proven.
      if (deps.stage.isClosed === true && !isRouteProbe(event)) {
        throw new GatewayError('internal_error', 'the gateway is closed for maintenance', {
          actionHint: 'Send the same request again later, with the same Idempotency-Key.',
        })
      }
      await assertFromFront(deps, event)
      const rawBody = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
      return run({ ...event, isGet: event.routeKey.startsWith('GET '), rawBody }, deps)
    })
    return (event, context) =>
      logInOneLine(() => answerInEnvelope(deps, event, () => answer(event, context)))
  })
}

/**
 * The outside of every HTTP handler: error envelope (spec section 7), headers and one log line for
 * each request. The line has the route's template, never a path or query, and the front's request
 * id, by which the front's log shows the caller.
 */
async function answerInEnvelope(
  deps: Pick<Deps, 'log' | 'monotonicMs' | 'stage'>,
  event: APIGatewayProxyEventV2,
  run: () => Promise<HttpReply>,
): Promise<APIGatewayProxyStructuredResultV2> {
  const startedMs = deps.monotonicMs()
  const { requestId } = event.requestContext
  const headers = {
    // No cache may store balances, destinations or personal data.
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(deps.stage.hasDomain === true && HTTPS_ONLY),
    'x-request-id': requestId,
  }
  const line = (status: number) => ({
    request_id: requestId,
    // CloudFront's request id. Without a front the caller can set this header, so only the id's
    // exact form is logged.
    front_request_id: /^[\w=-]{1,128}$/.exec(event.headers['x-amz-cf-id'] ?? '')?.[0],
    ...callerFields(),
    route: event.routeKey,
    status,
    duration_ms: Math.round(deps.monotonicMs() - startedMs),
  })
  try {
    const { status, body, headers: replyHeaders } = await run()
    const text = typeof body === 'string' ? body : toJson(body)
    deps.log.info('request.completed', line(status))
    return {
      statusCode: status,
      headers: { ...JSON_TYPE, ...replyHeaders, ...headers },
      body: text,
    }
  } catch (error) {
    const { status, body, retryAfterSeconds, expected } = toErrorReply(error)
    if (expected) deps.log.info('request.completed', { ...line(status), code: body.code })
    else deps.log.error('request.failed', { ...line(status), code: body.code }, error)
    const retry = retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }
    return {
      statusCode: status,
      headers: { ...JSON_TYPE, ...retry, ...headers },
      body: JSON.stringify(body),
    }
  }
}
