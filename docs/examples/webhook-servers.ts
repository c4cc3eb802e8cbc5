import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Receiver, receiveWebhook } from './receive-webhooks.ts'

/* The receiver for common servers. Each function only passes the raw bytes to it. */

const ABORTED = Symbol('aborted')

/** Far above the size of any webhook. */
const MAX_BYTES = 256 * 1024

/**
 * node:http, and Express where no body parser runs before it: `app.post('/hooks',
 * forNode(receiver))`.
 */
export function forNode(receiver: Receiver) {
  return async (
    request: IncomingMessage & { readonly body?: unknown },
    response: ServerResponse,
  ): Promise<void> => {
    // In Express, a body parser puts its result here. With `express.raw()`, that is the bytes.
    const body = request.body ?? (await readBytes(request).catch(() => ABORTED))
    // Any sender can break off a request. No answer is possible.
    if (body === ABORTED) return void response.destroy()
    if (body === undefined) {
      response.writeHead(413, { connection: 'close' }).end('too large')
      return
    }
    const answer = await receiveWebhook(receiver, { headers: request.headers, body })
    response.writeHead(answer.status, { 'content-type': 'text/plain' }).end(answer.body)
  }
}

/** The whole body; undefined if it is too long. */
async function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    chunks.push(Buffer.from(chunk))
    length += chunks.at(-1)?.length ?? 0
    if (length > MAX_BYTES) return undefined
  }
  return Buffer.concat(chunks)
}

/**
 * Servers with the web's Request and Response: Hono (`app.post('/hooks', (c) =>
 * receive(c.req.raw))`), Next.js, Deno, Bun.
 */
export function forFetch(receiver: Receiver) {
  return async (request: Request): Promise<Response> => {
    const { status, body } = await receiveWebhook(receiver, {
      headers: request.headers,
      body: Buffer.from(await request.arrayBuffer()),
    })
    return new Response(body, { status })
  }
}

type LambdaEvent = {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body?: string | null | undefined
  readonly isBase64Encoded?: boolean | undefined
}

/**
 * AWS Lambda behind API Gateway (both payload versions) or a function URL: `export const handler =
 * forLambda(receiver)`.
 */
export function forLambda(receiver: Receiver) {
  return async ({ headers, body, isBase64Encoded }: LambdaEvent) => {
    const bytes = Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8')
    const answer = await receiveWebhook(receiver, { headers, body: bytes })
    return {
      statusCode: answer.status,
      headers: { 'content-type': 'text/plain' },
      body: answer.body,
    }
  }
}
