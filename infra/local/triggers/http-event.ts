import { isUtf8 } from 'node:buffer'
import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import type { LocalRequest } from '../process/local-http-server.ts'

type MatchedRoute = {
  readonly routeKey: string
  readonly pathParameters: Readonly<Record<string, string>>
}

type EventContext = {
  readonly requestId: string
  readonly nowMs: number
  readonly domainName: string
}

/** Payload format 2.0 of API Gateway's HTTP API. */
export function httpEvent(
  request: LocalRequest,
  { routeKey, pathParameters }: MatchedRoute,
  { requestId, nowMs, domainName }: EventContext,
): APIGatewayProxyEventV2 {
  const headerPairs = headersOf(request.rawHeaders)
  const headers = joinedValues(headerPairs.filter(([name]) => name !== 'cookie'))
  const cookies = headerPairs.flatMap(([name, value]) =>
    name === 'cookie' ? value.split('; ') : [],
  )
  const query = joinedValues(request.query)
  const isBase64Encoded = request.body.length > 0 && !isText(headers['content-type'], request.body)
  return {
    version: '2.0',
    routeKey,
    rawPath: request.path,
    rawQueryString: request.search,
    headers,
    ...(cookies.length > 0 && { cookies }),
    ...(Object.keys(query).length > 0 && { queryStringParameters: query }),
    ...(Object.keys(pathParameters).length > 0 && { pathParameters }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName,
      domainPrefix: 'local',
      http: {
        method: request.method,
        path: request.path,
        protocol: 'HTTP/1.1',
        sourceIp: request.remoteAddress,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey,
      stage: '$default',
      time: new Date(nowMs).toISOString(),
      timeEpoch: nowMs,
    },
    ...(request.body.length > 0 && {
      body: request.body.toString(isBase64Encoded ? 'base64' : 'utf8'),
    }),
    isBase64Encoded,
  }
}

function headersOf(rawHeaders: readonly string[]) {
  return Array.from(
    { length: rawHeaders.length / 2 },
    (_, at) => [(rawHeaders[2 * at] ?? '').toLowerCase(), rawHeaders[2 * at + 1] ?? ''] as const,
  )
}

function joinedValues(
  pairs: Iterable<readonly [name: string, value: string]>,
): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of pairs)
    values.set(name, values.has(name) ? `${values.get(name)},${value}` : value)
  return Object.fromEntries(values)
}

const TEXT_TYPE = /^(text\/|application\/(json|xml|javascript|[\w.-]+\+(json|xml))\b)/i

/** Text would change bytes that are not UTF-8. */
function isText(contentType: string | undefined, body: Buffer) {
  return (contentType === undefined || TEXT_TYPE.test(contentType)) && isUtf8(body)
}
