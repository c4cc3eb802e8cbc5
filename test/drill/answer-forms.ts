import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

/** The answer that the proxy got, or keeps from an earlier call. */
export type UsualAnswer = { readonly status: number; readonly body: unknown }

/** What the proxy sends to the gateway in place of the usual answer. */
type AnswerForm = (socket: Socket, usual: UsualAnswer) => void

const JSON_TYPE = 'Content-Type: application/json'

export const ANSWER_FORMS: Readonly<Record<string, AnswerForm>> = {
  reset: (socket) => void socket.resetAndDestroy(),
  'closed without an answer': (socket) => void socket.destroy(),
  silence: () => undefined,
  'half a status line': (socket) => void socket.end('HTTP/1.1 20'),
  'not HTTP': (socket) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  'half the body, then closed': (socket, usual) => void socket.end(half(usual)),
  'half the body, then silence': (socket, usual) => void socket.write(half(usual)),
  'half the body, then reset': (socket, usual) =>
    void socket.write(half(usual), () => socket.resetAndDestroy()),
  'half the body with its own length': (socket, usual) => send(socket, 200, halfText(usual)),
  'chunked without the last chunk': (socket, usual) =>
    void socket.end(chunked(usual, bodyOf(usual).length.toString(16))),
  'a bad chunk': (socket, usual) => void socket.end(`${chunked(usual, 'zz')}0\r\n\r\n`),
  'two lengths': (socket, usual) =>
    void socket.end(head(usual.status, [JSON_TYPE, 'Content-Length: 7'], bodyOf(usual))),
  'an early hint first': (socket, usual) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    send(socket, usual.status, bodyOf(usual))
  },
  'a byte order mark': (socket, usual) => send(socket, usual.status, `\uFEFF${bodyOf(usual)}`),
  gzip: (socket, usual) => {
    const body = gzipSync(bodyOf(usual))
    const headers = [JSON_TYPE, 'Content-Encoding: gzip', `Content-Length: ${body.length}`]
    socket.end(Buffer.concat([Buffer.from(head(usual.status, headers, '', false)), body]))
  },
  'a header of 100 KB': (socket, usual) =>
    send(socket, usual.status, bodyOf(usual), [`X-Padding: ${'x'.repeat(100_000)}`]),
  'a body of 2 MB': (socket, usual) =>
    send(socket, usual.status, bodyOf(usual) + ' '.repeat(2 * 1024 * 1024)),
  'an empty 200': (socket) => send(socket, 200, ''),
  'an empty 201': (socket) => send(socket, 201, ''),
  'a 204': (socket) => send(socket, 204, ''),
  'HTML 200': (socket) => sendPage(socket, 200),
  'HTML 403': (socket) => sendPage(socket, 403),
  'HTML 404': (socket) => sendPage(socket, 404),
  'HTML 502': (socket) => sendPage(socket, 502),
  'JSON 400 without a code': (socket) => send(socket, 400, '{"message":"bad request"}'),
  '409 DUPLICATE_ERROR': (socket) => refuse(socket, 409, 'DUPLICATE_ERROR'),
  '429 with a reset': (socket) =>
    refuse(socket, 429, 'RATE_LIMIT_EXCEEDED', [
      'Rate-Limit-Remaining: 0',
      'Rate-Limit-Reset: 30.000',
    ]),
  '429 of HTML with Retry-After': (socket) => sendPage(socket, 429, ['Retry-After: 30']),
  '500 SERVER_ERROR': (socket) => refuse(socket, 500, 'SERVER_ERROR'),
  '503 CHANNEL_UNAVAILABLE': (socket) => refuse(socket, 503, 'CHANNEL_UNAVAILABLE'),
  'a redirect': (socket) => send(socket, 302, '', ['Location: https://login.example/']),
}

function bodyOf({ body }: UsualAnswer) {
  return JSON.stringify(body)
}

function halfText(usual: UsualAnswer) {
  const text = bodyOf(usual)
  return text.slice(0, text.length / 2)
}

/** With the length of the whole body. */
function half(usual: UsualAnswer) {
  return head(usual.status, [JSON_TYPE], bodyOf(usual)).slice(0, -halfText(usual).length)
}

function chunked(usual: UsualAnswer, length: string) {
  const headers = [JSON_TYPE, 'Transfer-Encoding: chunked']
  return `${head(usual.status, headers, '', false)}${length}\r\n${bodyOf(usual)}\r\n`
}

function refuse(socket: Socket, status: number, code: string, headers: readonly string[] = []) {
  send(socket, status, JSON.stringify({ error_code: code, message: 'refused' }), headers)
}

function sendPage(socket: Socket, status: number, headers: readonly string[] = []) {
  const page = '<!doctype html><title>Request blocked</title>'
  socket.end(head(status, ['Content-Type: text/html', ...headers], page))
}

function send(socket: Socket, status: number, body: string, headers: readonly string[] = []) {
  socket.end(head(status, [JSON_TYPE, ...headers], body))
}

function head(status: number, headers: readonly string[], body: string, hasLength = true) {
  const length = hasLength ? [`Content-Length: ${Buffer.byteLength(body)}`] : []
  // So that the next call never meets a connection that is being closed.
  const all = [...headers, ...length, 'Connection: close']
  return `HTTP/1.1 ${status} -\r\n${all.join('\r\n')}\r\n\r\n${body}`
}
