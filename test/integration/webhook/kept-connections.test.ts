import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it } from 'vitest'
import type { WebhookResult } from '../../../shared/send-webhook.ts'
import type { BoundedConnection } from '../../../shared/webhook/send/bounded-connection.ts'
import type { SenderOptions } from '../../../shared/webhook/send/https-webhook-sender.ts'
import { keptConnections } from '../../../shared/webhook/send/kept-connections.ts'
import { selfSignedCertificate, startTcpServer, startTlsServer } from '../../support/https-servers.ts'
import { aSender, BODY } from './webhook-sender-probe.ts'

/*
 * One sender and several attempts, at servers that say byte for byte what they answer and count what they are asked.
 * Whatever is not one whole answer and nothing else must cost its connection, or the next attempt would read it.
 */

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const POISON = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

type Answers = (requestNumber: number, socket: Socket) => string | undefined

/** Answers each whole request with the text for its number, of all connections together. */
const counting = (answers: Answers) => {
  const seen = { connections: 0, requests: 0, sockets: [] as Socket[] }
  const behave = (socket: Socket) => {
    seen.connections++
    seen.sockets.push(socket)
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (!text.includes('\r\n\r\n') || !text.endsWith(BODY.toString('latin1'))) return
      text = ''
      const answer = answers(++seen.requests, socket)
      if (answer !== undefined) socket.write(answer)
    })
  }
  return { seen, behave }
}

const closed = async (socket: Socket | undefined) => {
  if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve))
}

const aServer = async (answers: Answers, options: Partial<SenderOptions> = {}) => {
  const { seen, behave } = counting(answers)
  const url = `http://127.0.0.1:${await startTcpServer(behave)}/`
  const sender = aSender(options)
  return { seen, post: (body = BODY) => sender({ url, headers: {}, body }) }
}

const outcomes = (results: readonly WebhookResult[]) => results.map(({ delivered, error }) => error ?? delivered)

describe('a connection to a merchant', () => {
  it.each([
    ['an answer of a known length', OK],
    ['a failure', 'HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno'],
    ['an answer in chunks', `${CHUNKED}2\r\nok\r\nA\r\n0\r\n\r\n01234\r\n0\r\n\r\n`],
    ['an answer without a body', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ])('carries the next attempt after %s', async (_, answer) => {
    const { seen, post } = await aServer(() => answer)

    const results = [await post(), await post(), await post()]

    expect(new Set(results.map(({ httpStatus, responseBody }) => `${httpStatus} ${responseBody}`)).size).toBe(1)
    expect(seen).toMatchObject({ connections: 1, requests: 3 })
  })

  it('is TLS with the same name, checked once for all of them', async () => {
    const certificate = selfSignedCertificate('localhost')
    const before = getCACertificates('default')
    setDefaultCACertificates([...before, certificate.cert])
    const { seen, behave } = counting(() => OK)
    const port = await startTlsServer(certificate, behave)
    const sender = aSender()
    const post = (host: string) => sender({ url: `https://${host}:${port}/`, headers: {}, body: BODY })

    const results = [await post('localhost'), await post('localhost'), await post('127.0.0.1')]
    setDefaultCACertificates(before)

    expect(outcomes(results)).toStrictEqual([true, true, 'tls'])
    expect(seen).toMatchObject({ requests: 2 })
    expect(seen.sockets).toHaveLength(1)
  })

  it.each([
    ['an end announced', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['a body of 1 KB', `HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n${'x'.repeat(1_024)}`],
    ['a long head', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(9_000)}\r\nContent-Length: 2\r\n\r\nok`],
    ['an early hint', `HTTP/1.1 103 Early Hints\r\n\r\n${OK}`],
    ['a byte too many', `${OK}X`],
    ['an empty line too many', `${OK}\r\n`],
    ['a second answer', `${OK}${POISON}`],
    ['the beginning of a second answer', `${OK}${POISON.slice(0, 20)}`],
    ['a second answer after one without a body', `HTTP/1.1 204 No Content\r\n\r\n${POISON}`],
    ['a second answer after chunks', `${CHUNKED}2\r\nok\r\n0\r\n\r\n${CHUNKED}0\r\n\r\n`],
    ['trailers', `${CHUNKED}2\r\nok\r\n0\r\nX: y\r\n\r\n`],
    ['an extension of a chunk', `${CHUNKED}2;x=y\r\nok\r\n0\r\n\r\n`],
    ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ])('ends with %s, and the next attempt has its own', async (_, answer) => {
    const { seen, post } = await aServer((number) => (number === 1 ? answer : OK))

    const results = [await post(), await post()]

    expect(results[1]).toMatchObject({ delivered: true, responseBody: 'ok' })
    expect(seen).toMatchObject({ connections: 2, requests: 2 })
  })

  it('ends with an answer that came before the request was written', async () => {
    let connections = 0
    const port = await startTcpServer((socket) => {
      connections++
      socket.pause().write(OK)
    })
    const sender = aSender()
    const large = { url: `http://127.0.0.1:${port}/`, headers: {}, body: Buffer.alloc(32 * 1_024 * 1_024) }

    const results = [await sender(large), await sender(large)]

    expect(outcomes(results)).toStrictEqual([true, true])
    expect(connections).toBe(2)
  })

  it.each<readonly [string, (socket: Socket) => void]>([
    ['an end', (socket) => socket.end()],
    ['a reset', (socket) => socket.resetAndDestroy()],
    ['an unrequested answer', (socket) => socket.write(POISON)],
  ])('ends when %s comes between two attempts', async (_, interfere) => {
    const { seen, post } = await aServer(() => OK)
    await post()
    const [socket] = seen.sockets
    interfere(socket as Socket)

    const second = await post()

    await closed(socket)
    expect(second).toMatchObject({ delivered: true, responseBody: 'ok' })
    expect(seen).toMatchObject({ connections: 2, requests: 2 })
  })

  it.each([
    ['a second, whatever the time of day', 0, 1_001, 0],
    ['a second in which this process was frozen', 0, 0, 1_001],
    ['a clock set back', 5_000, 0, 0],
  ])('is not used after %s', async (_, wallAtFirst, monotonicAtSecond, wallAtSecond) => {
    const clocks = { monotonic: 0, wall: wallAtFirst }
    const { seen, post } = await aServer(() => OK, { monotonicMs: () => clocks.monotonic, nowMs: () => clocks.wall })
    await post()
    Object.assign(clocks, { monotonic: monotonicAtSecond, wall: wallAtSecond })

    await post()

    await closed(seen.sockets[0])
    expect(seen.connections).toBe(2)
  })

  it('is closed after a second without an attempt', async () => {
    const { seen, post } = await aServer(() => OK)
    await post()

    await closed(seen.sockets[0])

    expect(seen.connections).toBe(1)
  })

  it('fails an attempt that it breaks under, which is not sent twice, and the next ones have their own', async () => {
    const { seen, post } = await aServer((number, socket) => (number === 2 ? void socket.destroy() : OK))

    const results = [await post(), await post(), await post(), await post()]

    expect(outcomes(results)).toStrictEqual([true, 'connection', true, true])
    expect(seen).toMatchObject({ connections: 3, requests: 4 })
  })

  it('may be read from anew at each attempt, and no more than a new one', async () => {
    const long = `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(7_000)}\r\nContent-Length: 2\r\n\r\nok`
    const hints = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5_000)
    const { seen, post } = await aServer((number) => (number <= 12 ? long : hints))

    const results = []
    for (let sent = 0; sent < 13; sent++) results.push(await post())

    expect(outcomes(results)).toStrictEqual([...Array(12).fill(true), 'connection'])
    expect(seen.connections).toBe(1)
  })

  it('has the deadline of a new one', async () => {
    const { seen, post } = await aServer((number) => (number === 1 ? OK : undefined), { deadlineMs: 1_000 })

    const results = [await post(), await post()]

    expect(results).toMatchObject([{ delivered: true }, { error: 'timeout' }])
    expect(seen.connections).toBe(1)
  })
})

describe('keptConnections', () => {
  const clocks = { monotonicMs: () => 0, nowMs: () => 0 }
  const url = new URL('https://merchant.example/')

  /** A connection to an address, as far as keeping it goes. */
  const aConnection = (address = '203.0.113.7'): BoundedConnection => {
    const stream = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
    return {
      stream,
      failure: () => 'connection',
      address: () => address,
      renew: () => {},
      close: () => stream.destroy(),
    }
  }

  it('gives one only to a sender that may go to its address, at the same origin', async () => {
    const kept = keptConnections(clocks)
    const connection = aConnection()
    kept.keep(url, connection)
    const checked = [{ address: '203.0.113.7', family: 4 as const }]

    const taken = [
      await kept.take(url, [{ address: '203.0.113.8', family: 4 }]),
      await kept.take(new URL('http://merchant.example/'), checked),
      await kept.take(new URL('https://merchant.example:8443/'), checked),
      await kept.take(url, checked),
      await kept.take(url, checked),
    ]

    expect(taken).toStrictEqual([undefined, undefined, undefined, connection, undefined])
  })

  it('keeps a hundred at most', () => {
    const kept = keptConnections(clocks)
    const connections = Array.from({ length: 101 }, () => aConnection())

    for (const connection of connections) kept.keep(url, connection)

    expect(connections.map(({ stream }) => stream.destroyed)).toStrictEqual([...Array(100).fill(false), true])
  })
})
