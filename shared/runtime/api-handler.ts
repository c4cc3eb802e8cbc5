import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import * as v from 'valibot'
import { authenticate } from '../client/authenticate.ts'
import type { Client } from '../client/client.ts'
import type { Deps } from '../deps.ts'
import { parseInput } from '../field-errors.ts'
import type { ClientId } from '../ids.ts'
import { httpEnvelope, TIMEOUT_EARLY_MS } from './http-envelope.ts'
import { type InjectableHandler, injectable } from './injectable.ts'
import { originGuard } from './origin-guard.ts'

export type ApiRequest<Query> = {
  readonly client: Client
  readonly clientId: ClientId
  /** The `{id}` of the path, as sent. Its shape is checked by whoever reads with it. */
  readonly id: string
  readonly query: Query
  readonly idempotencyKey: string | undefined
  /** The body's bytes; empty when there is none. */
  readonly rawBody: Buffer
}

export type ApiReply = {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

export const reply = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): ApiReply => ({
  status,
  body,
  headers,
})

export const ok = (body: object): ApiReply => reply(200, body)

const NoQuery = v.object({})

/** An empty parameter is as good as none (design section 5). */
const filledParams = (params: APIGatewayProxyEventV2['queryStringParameters']) =>
  Object.fromEntries(Object.entries(params ?? {}).filter(([, value]) => value !== ''))

/**
 * Wraps a client endpoint: envelope and request id outside, then the way it came in, then authentication and the
 * client's rate limit, then the query. So an unauthenticated caller learns nothing about the rest (spec section 5).
 */
export const apiHandler = <const Schema extends v.GenericSchema = typeof NoQuery>(
  spec: { readonly query?: Schema },
  run: (request: ApiRequest<v.InferOutput<Schema>>, deps: Deps) => Promise<ApiReply>,
): InjectableHandler<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> =>
  injectable((deps) =>
    middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>({ timeoutEarlyInMillis: TIMEOUT_EARLY_MS })
      .use(httpEnvelope(deps))
      .use(originGuard(deps))
      .handler(async (event) => {
        const client = await authenticate(deps, event.headers['authorization'])
        const { status, body, headers } = await run(
          {
            client,
            clientId: client.clientId,
            id: event.pathParameters?.['id'] ?? '',
            query: parseInput(spec.query ?? NoQuery, filledParams(event.queryStringParameters)),
            idempotencyKey: event.headers['idempotency-key'],
            rawBody: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
          },
          deps,
        )
        return { statusCode: status, ...(headers && { headers: { ...headers } }), body: JSON.stringify(body) }
      }),
  )
