import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  selfSignedCertificate,
  startTcpServer,
  startTlsServer,
} from '../../support/https-servers.ts'
import { PATIENT, send, sendTrusting } from './webhook-sender-probe.ts'

/*
 * Endpoints that send without end, on real sockets. Their attempts have no deadline, so an attempt
 * that ends does so because of what it has read.
 */

const LIMIT = 65_536

function hint(bytes: number) {
  const [head, tail] = ['HTTP/1.1 103 Early Hints\r\nX: ', '\r\n\r\n']
  return head + 'x'.repeat(bytes - head.length - tail.length) + tail
}
const OK = 'HTTP/1.1 200 OK\r\n\r\n'

function floodWith(text: string) {
  return (socket: Socket) => {
    const flood = () => {
      while (!socket.destroyed && socket.write(text.repeat(100)));
    }
    socket.once('data', flood)
    socket.on('drain', flood)
  }
}

async function tcpUrl(behave: (socket: Socket) => void) {
  return `http://127.0.0.1:${await startTcpServer(behave)}/`
}
function answerWith(text: string) {
  return (socket: Socket) => void socket.once('data', () => socket.write(text))
}

describe('httpsWebhookSender: the limits of what an endpoint sends before its body', () => {
  it('stops at endless 103 answers over TLS', async () => {
    const certificate = selfSignedCertificate('localhost')
    const port = await startTlsServer(certificate, floodWith(hint(20_000)))

    expect(await sendTrusting(certificate, [`https://localhost:${port}/`])).toStrictEqual([
      { error: 'connection', durationMs: 0 },
    ])
  })

  it.each([
    ['endless 103 answers', floodWith(hint(40))],
    ['endless large 103 answers', floodWith(hint(20_000))],
    ['endless empty lines', floodWith('\r\n')],
    ['the eleventh informational answer', answerWith(hint(40).repeat(11))],
    ['64 KB of informational answers', answerWith(hint(LIMIT / 8).repeat(8))],
    ['64 KB of headers', answerWith(OK.slice(0, -2).padEnd(LIMIT, 'X'))],
  ])('stops at %s', async (_case, behave) => {
    expect(await send(await tcpUrl(behave), PATIENT)).toStrictEqual({ error: 'connection' })
  })

  it.each([
    ['ten informational answers', hint(40).repeat(10) + OK],
    ['informational answers just below 64 KB', hint((LIMIT - OK.length) / 7).repeat(7) + OK],
    [
      'headers just below 64 KB',
      `${OK.slice(0, -2)}X: ${'x'.repeat(LIMIT - OK.length - 5)}\r\n\r\n`,
    ],
  ])('counts a 2xx after %s as delivered', async (_case, text) => {
    const result = await send(await tcpUrl(answerWith(text)), { ...PATIENT, bodyGraceMs: 100 })

    expect(result).toStrictEqual({ httpStatus: 200, responseBody: '' })
  })
})
