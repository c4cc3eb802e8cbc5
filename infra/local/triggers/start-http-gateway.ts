import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { UPSTREAM } from '../../../shared/table/upstream.ts'
import type { FunctionHost, LocalFunction } from '../functions/function-host.ts'
import type { LocalClock } from '../process/local-clock.ts'
import {
  jsonReply,
  type LocalAnswer,
  type LocalPort,
  type LocalReply,
  type LocalRequest,
  startLocalHttpServer,
} from '../process/local-http-server.ts'
import { routeTable } from '../process/route-table.ts'
import { withTimeout } from '../process/with-timeout.ts'
import { httpEvent } from './http-event.ts'

/** Where the provider's callbacks come in. */
export const CALLBACK_PATH = `/callbacks/${UPSTREAM}`

/** Limits of an HTTP API of API Gateway. */
const MAX_PAYLOAD_BYTES = 10 * 1024 * 1024
const INTEGRATION_TIMEOUT_MS = 30_000

const TOO_LARGE = jsonReply(413, { message: 'Request Entity Too Large' })
const FUNCTION_FAILED = jsonReply(500, { message: 'Internal Server Error' })
const INTEGRATION_TIMED_OUT = jsonReply(503, { message: 'Service Unavailable' })

const Result = v.object({
  statusCode: v.pipe(v.number(), v.integer()),
  headers: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])), {}),
  body: v.optional(v.string(), ''),
  isBase64Encoded: v.optional(v.boolean(), false),
})

/** Undefined for another path. */
export type LocalPages = (request: LocalRequest) => LocalAnswer | Promise<LocalAnswer> | undefined

/**
 * Emulates API Gateway with the manifest's routes on 127.0.0.1. It listens at once; requests wait
 * until the gateway is ready. Local pages take precedence.
 */
export function startHttpGateway(
  options: LocalPort & {
    readonly ready: Promise<{ readonly host: Pick<FunctionHost, 'functions'> }>
    readonly clock: Pick<LocalClock, 'nowMs'>
    readonly pages?: readonly LocalPages[]
    /** At a tunnel's address only the provider's callbacks are answered. */
    readonly publicUrl?: URL | undefined
  },
) {
  const routes = options.ready.then(({ host }) => functionRoutes(host.functions))

  const answer = async (request: LocalRequest) => {
    for (const page of options.pages ?? []) {
      const pageAnswer = page(request)
      if (pageAnswer) return pageAnswer
    }
    const route = (await routes)(request.method, request.path)
    if (!route) return jsonReply(404, { message: 'Not Found' })
    const event = httpEvent(request, route, {
      requestId: randomUUID(),
      nowMs: options.clock.nowMs(),
      domainName: request.headers.host ?? 'localhost',
    })
    try {
      return await withTimeout(
        INTEGRATION_TIMEOUT_MS,
        route.entry.invoke(event).then((result) => toReply(result, options.clock.nowMs())),
        () => INTEGRATION_TIMED_OUT,
      )
    } catch {
      return FUNCTION_FAILED
    }
  }

  return startLocalHttpServer({
    port: options.port,
    family: options.family,
    answer,
    maxBodyBytes: MAX_PAYLOAD_BYTES,
    tooLarge: TOO_LARGE,
    admits: ({ method, url, headers: { host } }) =>
      method === 'POST' &&
      url === CALLBACK_PATH &&
      host !== undefined &&
      host === options.publicUrl?.host,
  })
}

/** A request without a route goes to the function of the default route. */
export function functionRoutes<Routed extends Pick<LocalFunction, 'spec'>>(
  functions: readonly Routed[],
) {
  const routes = functions.flatMap((target) => {
    const { trigger } = target.spec
    return trigger.kind === 'http' ? [[`${trigger.method} ${trigger.path}`, target] as const] : []
  })
  const find = routeTable(Object.fromEntries(routes))
  const fallback = functions.find(({ spec }) => spec.trigger.kind === 'http-default')
  return (method: string, path: string) =>
    find(method, path) ??
    (fallback && { routeKey: '$default', entry: fallback, pathParameters: {} })
}

/**
 * A result without a status code is a body, as in payload format 2.0. JSON gets the line break of
 * other local answers.
 */
function toReply(result: unknown, nowMs: number): LocalReply {
  const date = new Date(nowMs).toUTCString()
  const parsedResult = v.safeParse(Result, result)
  if (!parsedResult.success) return jsonReply(200, result ?? null, { date })
  const { statusCode: status, headers, body, isBase64Encoded } = parsedResult.output
  return {
    status,
    headers: Object.fromEntries(
      Object.entries<unknown>({ date, ...headers }).map(([name, value]) => [name, String(value)]),
    ),
    body: isBase64Encoded ? Buffer.from(body, 'base64') : body.replace(/}$/, '}\n'),
  }
}
