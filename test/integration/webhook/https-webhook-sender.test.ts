import { describe, expect, it } from 'vitest'
import { startTcpServer } from '../../support/https-servers.ts'
import { startScriptedServer } from '../../support/scripted-server.ts'
import { answering, BODY, PATIENT, send } from './webhook-sender-probe.ts'

/* The sender against real servers; no result here depends on a machine's speed. */

describe('httpsWebhookSender: the request', () => {
  it('posts the bytes and headers as given', async () => {
    const server = await startScriptedServer(answering(200, 'thanks'))

    const result = await send(`${server.url}/hooks?shop=1#part`)

    expect(result).toStrictEqual({ delivered: true, httpStatus: 200, error: undefined, responseBody: 'thanks' })
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/hooks?shop=1', body: BODY.toString('utf8') })
    expect(server.requests[0]?.headers).toStrictEqual({
      'content-type': 'application/json',
      'x-gateway-event': 'payment.succeeded',
      'content-length': String(BODY.length),
      'user-agent': 'gateway-webhooks/1',
      accept: '*/*',
      host: new URL(server.url).host,
      connection: 'keep-alive',
    })
  })
})

describe('httpsWebhookSender: what counts as delivered (spec 6.4)', () => {
  it.each([200, 201, 202, 204, 299])('takes %i as delivered', async (status) => {
    const server = await startScriptedServer(answering(status))

    const delivered = { delivered: true, httpStatus: status, error: undefined, responseBody: '' }
    expect(await send(server.url)).toStrictEqual(delivered)
  })

  it.each([300, 302, 307, 400, 401, 404, 410, 429, 500, 503])(
    'takes %i as failed and follows nothing',
    async (status) => {
      const server = await startScriptedServer(answering(status, 'no', { location: '/elsewhere' }))

      const refused = { delivered: false, httpStatus: status, error: 'http_status', responseBody: 'no' }
      expect(await send(server.url)).toStrictEqual(refused)
      expect(server.requests).toHaveLength(1)
    },
  )

  it('takes an upgrade nobody asked for as its status', async () => {
    const port = await startTcpServer((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')),
    )

    const refused = { delivered: false, error: 'http_status', httpStatus: 101 }
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject(refused)
  })

  it('passes over an early hint and waits for the status', async () => {
    const server = await startScriptedServer((response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.writeHead(200).end('thanks')
    })

    expect(await send(server.url)).toMatchObject({ delivered: true, httpStatus: 200 })
  })
})

describe('httpsWebhookSender: the answer body (first 1 KB)', () => {
  it('keeps the first 1,024 bytes of a huge answer and stops reading', async () => {
    const server = await startScriptedServer((response) => {
      response.writeHead(500)
      const flood = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', flood)
      flood()
    })

    const { responseBody } = await send(server.url, PATIENT)

    expect(responseBody).toBe('x'.repeat(1_024))
  })

  it.each([
    ['two bytes', 'é', 1_023, 1_023],
    ['three bytes', '☕', 1_022, 1_022],
    ['four bytes', '🍵', 1_021, 1_021],
  ])('leaves out a last character of %s that the limit cuts', async (_case, character, fill, length) => {
    const server = await startScriptedServer(answering(200, 'x'.repeat(fill) + character + 'tail'))

    const { responseBody } = await send(server.url)

    expect(responseBody).toBe('x'.repeat(length))
  })

  it('keeps bytes that are no text as replacement characters', async () => {
    const server = await startScriptedServer(answering(200, Buffer.from([0xff, 0x41])))

    expect(await send(server.url)).toMatchObject({ delivered: true, responseBody: '\uFFFDA' })
  })

  it.each([
    ['at the end of its grace', { ...PATIENT, bodyGraceMs: 200 }],
    ['at the deadline', { bodyGraceMs: 60_000, deadlineMs: 2_500 }],
  ])('takes a 2xx whose body stalls as delivered %s, with what has come', async (_, options) => {
    const server = await startScriptedServer((response) => {
      response.writeHead(200)
      response.write('partly')
    })

    const result = await send(server.url, options)

    expect(result).toMatchObject({ delivered: true, httpStatus: 200, responseBody: 'partly' })
  })

  it('takes a 2xx whose connection breaks in the body as delivered', async () => {
    const port = await startTcpServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartly')),
    )

    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ delivered: true, responseBody: 'partly' })
  })
})
