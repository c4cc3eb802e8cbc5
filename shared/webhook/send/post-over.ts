import * as http from 'node:http'
import * as https from 'node:https'
import type { Socket } from 'node:net'
import type { WebhookRequest, WebhookResult } from '../../send-webhook.ts'
import type { BoundedConnection } from './bounded-connection.ts'
import { endsExactly } from './ends-exactly.ts'

/** Spec section 8: stored response body. */
const STORED_BYTES = 1_024
/** A longer answer, head and body, is not read: its connection is closed. */
const LOOKED_AT_BYTES = 8_192
/** Informational answers, such as `103 Early Hints`, before the answer itself. */
const MAX_INFORMATIONAL = 10
/** All bytes that are read may be headers. */
const MAX_HEADER_BYTES = 65_536

/** Some firewalls refuse requests without a user agent. */
const COMMON_HEADERS = { 'User-Agent': 'gateway-webhooks/1', Accept: '*/*', Connection: 'keep-alive' }

export type Outcome = Omit<WebhookResult, 'durationMs'>

export const failed = (error: NonNullable<WebhookResult['error']>): Outcome => ({
  delivered: false,
  httpStatus: undefined,
  error,
  responseBody: undefined,
})

type Means = {
  /** Called once node has accepted the request. */
  readonly connect: () => BoundedConnection
  readonly deadline: AbortSignal
  readonly bodyGraceMs: number
  /** Receives the connection when request and answer are over and no further byte has come. */
  readonly whenFree: (connection: BoundedConnection) => void
}

type Posted = Pick<WebhookRequest, 'headers' | 'body'> & { readonly target: URL }

/** Writes one request and reads its answer up to the limit. Then the connection is closed unless it is free. */
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
    // We requested no protocol upgrade. The status line is the answer, and it is no 2xx.
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

/** The bytes that arrive after a request, below HTTP, up to the limit. */
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

/** The first 1 KB of the body; more is not waited for. */
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

/** UTF-8 whose last character may be cut: it is decoded as the start of a stream, so a broken rest is left out. */
const textOf = (bytes: Buffer): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
