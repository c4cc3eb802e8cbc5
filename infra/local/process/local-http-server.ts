import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isForeignRequest } from './is-foreign-request.ts'

export type LocalRequest = {
  readonly method: string
  /** Without the query, percent-encoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** As sent, without the question mark. */
  readonly search: string
  readonly headers: IncomingHttpHeaders
  /** Each name followed by its value, exactly as sent. */
  readonly rawHeaders: readonly string[]
  readonly remoteAddress: string
  readonly body: Buffer
}

export type LocalReply = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Buffer
  readonly delayMs?: number
}

/** `stream` gets a function that sends text, and returns the function that ends the stream. */
type LocalStream = {
  readonly headers: Readonly<Record<string, string>>
  readonly stream: (send: (text: string) => void) => () => void
}

/** Without an answer `hang` leaves the socket open, and `close` closes it. */
export type LocalAnswer =
  | LocalReply
  | LocalStream
  | { readonly hang: true }
  | { readonly close: true; readonly delayMs?: number }

export type LocalPort = {
  readonly port: number
  /** The ports whose pages may call each other, with this server's own when it listens. */
  readonly family?: Set<number>
}

type LocalHttpServerOptions = LocalPort & {
  readonly answer: (request: LocalRequest) => LocalAnswer | Promise<LocalAnswer>
  /** Foreign requests that are answered all the same. */
  readonly admits?: (incoming: IncomingMessage) => boolean
  readonly keepAliveMs?: number
  readonly maxBodyBytes?: number
  readonly tooLarge?: LocalReply
}

const MAX_BODY_BYTES = 1024 * 1024
/** A sender that is disconnected sees no answer, so a too long body is read up to this multiple. */
const DROPPED_TIMES_MAX = 4
const LISTEN_BACKLOG = 1024
/** A reader with more unread bytes is disconnected, and may connect again. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024
const FOREIGN_HEADERS = {
  connection: 'close',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}
const FOREIGN_REFUSAL = {
  code: 'forbidden',
  message: 'call the local gateway only from this machine, at 127.0.0.1',
}

/** Undefined if the text is not JSON. */
export function parsedJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

/** Ends with a line break, for a terminal's prompt. */
export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): LocalReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: `${JSON.stringify(value)}\n`,
  }
}

/**
 * The server of a part of the local gateway, on 127.0.0.1. It answers 403 to requests of foreign
 * pages, 413 to a body that is too long, and 500 after an error in `answer`, which it prints.
 * Rejects if the port is in use.
 */
export async function startLocalHttpServer(options: LocalHttpServerOptions) {
  let isClosing = false
  const controller = new AbortController()
  const streams = new Set<ServerResponse>()

  const family = options.family ?? new Set<number>()
  // Node does not check `Host`, so a request without one gets the refusal of a foreign host.
  const server = createServer({ requireHostHeader: false }, (incoming, response) => {
    const send = (answer: LocalReply) => {
      if (isClosing) response.shouldKeepAlive = false
      reply(response, answer)
    }
    if (isForeignRequest(incoming.headers, family) && options.admits?.(incoming) !== true)
      return send(jsonReply(403, FOREIGN_REFUSAL, FOREIGN_HEADERS))
    serve(incoming, response, options, { closeSignal: controller.signal, send, streams }).catch(
      () => response.destroy(),
    )
  })
  // A client sees a false error if it reuses a connection while the server closes it.
  server.keepAliveTimeout = options.keepAliveMs ?? 60_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(options.port, error)))
    server.listen(options.port, '127.0.0.1', LISTEN_BACKLOG, resolve)
  })
  const port = portOf(server.address())
  family.add(port)

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** Waits `drainMs` for answers in progress, then closes all connections. */
    close: (drainMs = 0) => {
      isClosing = true
      return new Promise<void>((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), drainMs)
        // Streams never end by themselves.
        for (const response of streams) response.end()
        server.close(() => {
          clearTimeout(cut)
          controller.abort()
          resolve()
        })
      })
    },
  }
}

function reply(response: ServerResponse, { status, headers, body }: LocalReply) {
  if (response.destroyed) return
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

const SERVER_FAILED = jsonReply(500, {
  error_code: 'SERVER_ERROR',
  message: 'unexpected error in the local server',
})

type AnswerTools = {
  readonly closeSignal: AbortSignal
  readonly send: (answer: LocalReply) => void
  readonly streams: Set<ServerResponse>
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  options: LocalHttpServerOptions,
  { closeSignal, send, streams }: AnswerTools,
) {
  const body = await readBody(incoming, options.maxBodyBytes ?? MAX_BODY_BYTES)
  if (!body) {
    const refusal =
      options.tooLarge ?? jsonReply(413, { message: 'the request body is too large; send less' })
    return send({ ...refusal, headers: { ...refusal.headers, connection: 'close' } })
  }
  const result = await (async () => options.answer(requestOf(incoming, body)))().catch(
    (error: unknown) => {
      console.error(`\nThe local server failed at ${incoming.method} ${incoming.url}:`, error)
      return SERVER_FAILED
    },
  )
  if ('hang' in result) return
  if ('stream' in result) return startStream(response, result, streams)
  if (result.delayMs) await sleep(result.delayMs, undefined, { signal: closeSignal })
  if ('close' in result) response.destroy()
  else send(result)
}

/** Undefined if the body is too long. */
async function readBody(incoming: IncomingMessage, maxBytes: number) {
  const chunks: Buffer[] = []
  let bytes = 0
  // The refusal is still sent on the socket, so an early return must not destroy it.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    const part: Buffer = chunk
    bytes += part.length
    if (bytes > maxBytes * DROPPED_TIMES_MAX) return undefined
    if (bytes <= maxBytes) chunks.push(part)
    else chunks.length = 0
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks)
}

function requestOf(incoming: IncomingMessage, body: Buffer): LocalRequest {
  const [path = '/', ...queries] = (incoming.url ?? '/').split('?')
  const search = queries.join('?')
  return {
    method: incoming.method ?? 'GET',
    path,
    query: new URLSearchParams(search),
    search,
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    remoteAddress: incoming.socket.remoteAddress ?? '',
    body,
  }
}

function startStream(
  response: ServerResponse,
  { headers, stream }: LocalStream,
  streams: Set<ServerResponse>,
) {
  if (response.destroyed) return
  response.writeHead(200, { ...headers, 'cache-control': 'no-store' })
  response.flushHeaders()
  streams.add(response)
  const end = stream((text) => {
    if (response.writableEnded || response.destroyed) return
    if (response.writableLength > UNREAD_BYTES_MAX) response.destroy()
    else response.write(text)
  })
  response.once('close', () => {
    streams.delete(response)
    end()
  })
}

function listenError(port: number, error: Error) {
  return 'code' in error && error.code === 'EADDRINUSE'
    ? new Error(
        `port ${port} is in use; stop the program that uses it, or set PORT to another one`,
        { cause: error },
      )
    : error
}

function portOf(address: AddressInfo | string | null) {
  if (address === null || typeof address === 'string') throw new Error('the server has no TCP port')
  return address.port
}
