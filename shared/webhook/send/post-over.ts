import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import type { WebhookRequest, WebhookResult } from '../../send-webhook.ts'
import type { BoundedConnection } from './bounded-connection.ts'
import { endsExactly } from './ends-exactly.ts'

/** Spec section 8: stored response body. */
const STORED_BYTES = 1_024
/** An answer that is longer, head and body, is not looked at: its connection is closed. */
const LOOKED_AT_BYTES = 8_192
/** `103 Early Hints` and the like before the answer itself. */
const MAX_INFORMATIONAL = 10
/** Whatever is read may be headers. */
const MAX_HEADER_BYTES = 65_536

/** Some firewalls refuse requests that do not say who they are. */
const COMMON_HEADERS = { 'User-Agent': 'gateway-webhooks/1', Accept: '*/*', Connection: 'keep-alive' }

export type Outcome = Omit<WebhookResult, 'durationMs'>

export const failed = (error: NonNullable<WebhookResult['error']>): Outcome => ({
  delivered: false,
  httpStatus: undefined,
  error,
  responseBody: undefined,
})

type Means = {
  /** Called once node has found nothing wrong with the request. */
  readonly connect: () => BoundedConnection
  readonly deadline: AbortSignal
  readonly bodyGraceMs: number
  /** Given the connection when request and answer are over and nothing else has come on it. */
  readonly whenFree: (connection: BoundedConnection) => void
}

type Posted = Pick<WebhookRequest, 'headers' | 'body'> & { readonly target: URL }

/** Writes one request and reads its answer as far as it counts. The connection is closed behind it unless it is free. */
export const postOver = (request: Posted, { connect, deadline, bodyGraceMs, whenFree }: Means): Promise<Outcome> =>
  new Promise((resolve) => {
    let connection: BoundedConnection | undefined
    const outgoing = requestOver(request, () => {
      connection = connect()
      return connection
    })
    const arrived = bytesOf(outgoing)
    const answer = emptyAnswer()
    let grace: NodeJS.Timeout | undefined
    let finished = false

    const finish = (otherwise: 'connection' | 'timeout', wasWhole = false) => {
      if (finished) return
      finished = true
      deadline.removeEventListener('abort', onDeadline)
      clearTimeout(grace)
      arrived.ignoreMore()
      const { response } = answer
      resolve(response ? outcomeOf(response, answer) : failed(failureOf(otherwise, connection)))
      const bothGoOn = outgoing.writableFinished && outgoing.shouldKeepAlive
      if (connection && response && wasWhole && bothGoOn && arrived.are(response)) whenFree(connection)
      else {
        outgoing.destroy()
        connection?.close()
      }
    }
    const onDeadline = () => finish('timeout')
    const onEnd = () => finish('connection')

    deadline.addEventListener('abort', onDeadline, { once: true })
    outgoing.on('response', (response) => {
      grace = setTimeout(onEnd, bodyGraceMs)
      read(answer, response, onEnd)
      response.on('end', () => finish('connection', true))
    })
    outgoing.on('information', () => {
      if (++answer.informational > MAX_INFORMATIONAL) onEnd()
    })
    // Nobody asked for another protocol; the status line is the answer, and it is not a 2xx.
    outgoing.on('upgrade', (response) => {
      read(answer, response, onEnd)
      onEnd()
    })
    outgoing.on('error', onEnd)
    outgoing.on('close', onEnd)
    outgoing.end(request.body)
  })

const requestOver = ({ target, headers, body }: Posted, connect: () => BoundedConnection): http.ClientRequest =>
  (target.protocol === 'https:' ? https : http).request(target, {
    method: 'POST',
    headers: { ...COMMON_HEADERS, ...headers, 'Content-Length': body.length },
    createConnection: () => connect().stream,
    maxHeaderSize: MAX_HEADER_BYTES,
  })

/** What arrives in answer to a request, below HTTP, as far as it is looked at. */
const bytesOf = (outgoing: http.ClientRequest) => {
  const chunks: Buffer[] = []
  let bytes = 0
  let socket: Socket | undefined
  const add = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= LOOKED_AT_BYTES) chunks.push(chunk)
  }
  outgoing.once('socket', (used) => {
    socket = used.on('data', add)
  })
  return {
    are: ({ statusCode = 0, headers }: http.IncomingMessage): boolean =>
      bytes <= LOOKED_AT_BYTES && endsExactly(Buffer.concat(chunks), { statusCode, headers }),
    ignoreMore: () => void socket?.off('data', add),
  }
}

type Answer = {
  response: http.IncomingMessage | undefined
  readonly chunks: Buffer[]
  bytes: number
  informational: number
}

const emptyAnswer = (): Answer => ({ response: undefined, chunks: [], bytes: 0, informational: 0 })

/** The first 1 KB of the body; nobody waits for more. */
const read = (answer: Answer, response: http.IncomingMessage, onEnough: () => void): void => {
  answer.response = response
  response.on('data', (chunk: Buffer) => {
    answer.chunks.push(chunk)
    answer.bytes += chunk.length
    if (answer.bytes >= STORED_BYTES) onEnough()
  })
  response.on('error', onEnough)
}

const failureOf = (otherwise: 'connection' | 'timeout', connection: BoundedConnection | undefined) =>
  otherwise === 'timeout' ? otherwise : (connection?.failure() ?? 'connection')

const outcomeOf = ({ statusCode: status = 0 }: http.IncomingMessage, { chunks }: Answer): Outcome => {
  const delivered = status >= 200 && status <= 299
  return {
    delivered,
    httpStatus: status,
    error: delivered ? undefined : 'http_status',
    responseBody: textOf(Buffer.concat(chunks).subarray(0, STORED_BYTES)),
  }
}

/** UTF-8 whose last character may have been cut: as a stream's start, so the broken rest is left out. */
const textOf = (bytes: Buffer): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
