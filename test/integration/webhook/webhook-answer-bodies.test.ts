import type { Socket } from 'node:net'
import { describe, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { startScriptedServer } from '../../support/scripted-server.ts'
import { answerScript, answerWith, PATIENT, send, tcpUrl } from './webhook-sender-probe.ts'

/* Answer bodies from real servers; no result here depends on a machine's speed. */

const PARTIAL_ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartly'
function stallInBody(socket: Socket) {
  socket.once('data', () => socket.write(PARTIAL_ANSWER))
}

describe('httpsWebhookSender: the answer body (first 1 KB)', () => {
  it('keeps the first 1,024 bytes of a huge answer and stops reading', async () => {
    const server = await startScriptedServer((response) => {
      response.writeHead(500)
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', flood)
      response.write('x')
      setTimeout(flood, 50)
    })

    expect((await send(server.url)).responseBody).toBe('x'.repeat(1_024))
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
