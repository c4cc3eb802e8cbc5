import type { Request } from '@middy/core'
import type {
  APIGatewayProxyStructuredResultV2 as Answer,
  APIGatewayProxyEventV2,
} from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { GatewayError, toErrorReply } from '../errors.ts'
import { toJson } from '../json.ts'
import { type InjectableHandler, injectable, type Middleware, pipeline } from './injectable.ts'
import { callerFields, logInOneLine } from './json-log.ts'
import { assertFromFront } from './origin-guard.ts'
import { endProbe, isRouteProbe } from './release/probe.ts'

export type HttpRequest = Pick<
  APIGatewayProxyEventV2,
  'headers' | 'queryStringParameters' | 'rawQueryString'
> & {
  readonly id: string
  readonly isGet: boolean
  readonly idempotencyKey: string | undefined
  readonly rawBody: Buffer
  /** By the monotonic clock. */
  readonly startedMs: number
}

export type HttpReply = {
  readonly status: number
  readonly body: object | string
  readonly headers?: Readonly<Record<string, string>>
}

/** The caller gets our envelope, not the platform's. */
const TIMEOUT_EARLY_MS = 500

type Run = { run(request: HttpRequest, deps: Deps): Promise<HttpReply> }['run']

/**
 * The outer list answers every request, also one that runs out of time. The inner list refuses. A
 * middleware cannot run around a handler; `scope` does.
 */
export function httpHandler(
  run: Run,
  checks: (deps: Deps) => readonly Middleware[] = () => [],
  scope: typeof logInOneLine = (inside) => inside(),
  runEarlyMs = 0,
): InjectableHandler<APIGatewayProxyEventV2, Answer> {
  return injectable((deps) => {
    const inside = pipeline<HttpRequest, HttpReply>(
      [closedStage(deps), frontOrigin(deps), ...checks(deps)],
      async (request) => {
        endProbe(request)
        return run(request, deps)
      },
      runEarlyMs,
    )
    const answer = pipeline<APIGatewayProxyEventV2, Answer>(
      [requestLine(deps), envelope(deps)],
      async (event, context) => scope(() => inside(requestOf(event, deps.monotonicMs()), context)),
      TIMEOUT_EARLY_MS,
    )
    return (event, context) => logInOneLine(() => answer(event, context))
  }, true)
}

function requestOf(event: APIGatewayProxyEventV2, startedMs: number) {
  const { headers, pathParameters, routeKey, isBase64Encoded } = event
  return {
    ...event,
    id: pathParameters?.['id'] ?? '',
    isGet: routeKey.startsWith('GET '),
    idempotencyKey: headers['idempotency-key'],
    rawBody: Buffer.from(event.body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
    startedMs,
  }
}

/**
 * The line has the route's template, never a path or query, and the front's request id, by which
 * the front's log shows the caller.
 */
function requestLine({ log, monotonicMs }: Deps) {
  const write = ({ event, response, error, internal }: Call<Answer>) => {
    const refusal = error && toErrorReply(error)
    const line = {
      request_id: event.requestContext.requestId,
      // Without a front the caller can set this header, so only the id's exact form is logged.
      front_request_id: /^[\w=-]{1,128}$/.exec(event.headers['x-amz-cf-id'] ?? '')?.[0],
      ...callerFields(),
      route: event.routeKey,
      status: response?.statusCode,
      duration_ms: Math.round(monotonicMs() - (internal.startedMs ?? 0)),
      ...(refusal && { code: refusal.body.code }),
    }
    if (refusal?.expected === false) log.error('request.failed', line, error)
    else log.info('request.completed', line)
  }
  return {
    before: ({ internal }: Call<Answer>) => {
      internal.startedMs = monotonicMs()
    },
    after: write,
    onError: write,
  }
}

type Call<Response> = Request<APIGatewayProxyEventV2, Response> & {
  internal: { startedMs?: number }
}

/**
 * HTTPS only for two years, without subdomains, because the owner may serve other hosts in the
 * zone.
 */
const HTTPS_ONLY = { 'strict-transport-security': 'max-age=63072000' }

/** Every error is the envelope of spec section 7. */
function envelope({ stage }: Deps) {
  const answer = (call: Call<HttpReply>) => {
    const { status, body, headers } = call.response ?? toErrorReply(call.error)
    const response: Answer = {
      statusCode: status,
      headers: {
        'content-type': 'application/json',
        ...headers,
        // No cache may store balances, destinations or personal data.
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        ...(stage.hasDomain === true && HTTPS_ONLY),
        'x-request-id': call.event.requestContext.requestId,
      },
      body: typeof body === 'string' ? body : toJson(body),
    }
    Object.assign(call, { response })
  }
  return { after: answer, onError: answer }
}

/** A closed stage reads nothing. It answers a probe, so that a closed release can be proven. */
function closedStage({ stage }: Deps) {
  return {
    before: ({ event }: Request<HttpRequest>) => {
      if (stage.isClosed === true && !isRouteProbe(event))
        throw new GatewayError('internal_error', 'the gateway is closed for maintenance', {
          actionHint: 'Send the same request again later, with the same Idempotency-Key.',
        })
    },
  }
}

function frontOrigin(deps: Deps) {
  return { before: async ({ event }: Request<HttpRequest>) => assertFromFront(deps, event) }
}
