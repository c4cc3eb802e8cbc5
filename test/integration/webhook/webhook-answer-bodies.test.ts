import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { selfSignedCertificate, startTlsServer, writeOnly } from '../../support/https-servers.ts'
import { answerScript, startScriptedServer } from '../../support/scripted-server.ts'
import { answerWith, PATIENT, send, sendTrusting, tcpUrl } from './webhook-sender-probe.ts'

/* Answer bodies from real servers; no result here depends on a machine's speed. */

const PARTIAL_ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartly'
function stallInBody(socket: Socket) {
  socket.once('data', () => socket.write(PARTIAL_ANSWER))
}

describe('httpsWebhookSender: the answer body (first 1 KB)', () => {
  it('keeps the first 1,024 bytes of an answer that does not end, and stops reading', async () => {
    const url = await tcpUrl('http', writeOnly(OK + 'x'.repeat(1_025)))

    expect((await send(url)).responseBody).toBe('x'.repeat(1_024))
  })

  it.each(['é', '☕', '🍵'])('drops a character that the limit splits: %s', async (character) => {
    const text = 'x'.repeat(1_025 - Buffer.byteLength(character))
    const server = await startScriptedServer(answerScript(200, `${text}${character}tail`))

    expect((await send(server.url)).responseBody).toBe(text)
  })

  it('stores bytes that are not text as replacement characters', async () => {
    const server = await startScriptedServer(answerScript(200, Buffer.from([0xff, 0x41])))

    expect(await send(server.url)).toStrictEqual({ httpStatus: 200, responseBody: '\uFFFDA' })
  })

  it.each([
    ['stalls, at the end of its grace', stallInBody, { bodyGraceMs: 200 }],
    ['ends with its connection', answerWith(PARTIAL_ANSWER), {}],
  ])(
    'counts a 2xx as delivered if its body %s, and stores the received part',
    async (_, behave, options) => {
      expect(await send(await tcpUrl('http', behave), options)).toStrictEqual({
        httpStatus: 200,
        responseBody: 'partly',
      })
    },
  )

  it('counts a 2xx as delivered if its body stalls, at the deadline, and stores the received part', async () => {
    const deadline = new AbortController()
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal)
    const timers = vi.spyOn(globalThis, 'setTimeout')

    const sending = send(await tcpUrl('http', stallInBody))
    // The grace begins when the status has arrived.
    await eventually(() =>
      expect(timers).toHaveBeenCalledWith(expect.any(Function), PATIENT.bodyGraceMs),
    )
    deadline.abort()

    expect(await sending).toStrictEqual({ httpStatus: 200, responseBody: 'partly' })
  })
})

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

describe('httpsWebhookSender: the limits of what an endpoint sends before its body', () => {
  it('stops at endless 103 answers over TLS', async () => {
    const certificate = selfSignedCertificate('localhost')
    const port = await startTlsServer(certificate, floodWith(hint(20_000)))

    expect(await sendTrusting(certificate, [`https://localhost:${port}/`])).toStrictEqual([
      { error: 'connection', durationMs: 0 },
    ])
  })

  it.each([
    ['endless empty lines', floodWith('\r\n')],
    ['64 KB of informational answers', writeOnly(hint(LIMIT / 8).repeat(8))],
    ['64 KB of headers', writeOnly(OK.slice(0, -2).padEnd(LIMIT, 'X'))],
  ])('stops at %s', async (_case, behave) => {
    expect(await send(await tcpUrl('http', behave), PATIENT)).toStrictEqual({ error: 'connection' })
  })

  it.each([
    ['informational answers just below 64 KB', hint((LIMIT - OK.length) / 7).repeat(7) + OK],
    [
      'headers just below 64 KB',
      `${OK.slice(0, -2)}X: ${'x'.repeat(LIMIT - OK.length - 5)}\r\n\r\n`,
    ],
  ])('counts a 2xx after %s as delivered', async (_case, text) => {
    const result = await send(await tcpUrl('http', writeOnly(text)), {
      ...PATIENT,
      bodyGraceMs: 100,
    })

    expect(result).toStrictEqual({ httpStatus: 200, responseBody: '' })
  })
})
