import middy from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import type { Deps } from '../deps.ts'
import { httpEnvelope, TIMEOUT_EARLY_MS } from './http-envelope.ts'
import { type InjectableHandler, injectable } from './injectable.ts'
import { originGuard } from './origin-guard.ts'

/** Wraps what answers HTTP without a client's key: provider callbacks and unknown paths. */
export const httpHandler = (
  run: (
    request: { readonly headers: Readonly<Record<string, string | undefined>>; readonly rawBody: Buffer },
    deps: Deps,
  ) => Promise<{ readonly status: number; readonly body: object }>,
): InjectableHandler<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2> =>
  injectable((deps) =>
    middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>({ timeoutEarlyInMillis: TIMEOUT_EARLY_MS })
      .use(httpEnvelope(deps))
      .use(originGuard(deps))
      .handler(async (event) => {
        const { status, body } = await run(
          {
            headers: event.headers,
            rawBody: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
          },
          deps,
        )
        return { statusCode: status, body: JSON.stringify(body) }
      }),
  )
