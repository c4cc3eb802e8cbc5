import middy, { type MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { toJson } from '../json.ts'
import { httpEnvelope, TIMEOUT_EARLY_MS } from './http-envelope.ts'
import { type InjectableHandler, injectable } from './injectable.ts'
import { inOneLine } from './joining-log.ts'
import { originGuard } from './origin-guard.ts'
import { isRouteProbe } from './release/probe.ts'

export type HttpRequest = Pick<APIGatewayProxyEventV2, 'headers' | 'pathParameters' | 'queryStringParameters'> & {
  /** The matched route is a GET. */
  readonly isGet: boolean
  /** The body's bytes; empty when there is none. */
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
      .use(closedGuard(deps))
      .use(originGuard(deps))
      .handler(async (event) => {
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

/**
 * A closed stage answers every request with 500 and reads nothing. A probe passes, so that a closed release can be
 * proven (design section 13).
 */
const closedGuard = (deps: Pick<Deps, 'stage'>): MiddlewareObj => ({
  before: ({ event }) => {
    if (deps.stage.isClosed !== true || isRouteProbe(event)) return
    throw new GatewayError('internal_error', 'the gateway is closed for maintenance', {
      actionHint: 'Send the same request again later, with the same Idempotency-Key.',
    })
  },
})
