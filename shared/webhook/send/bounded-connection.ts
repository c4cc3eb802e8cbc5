import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import * as tls from 'node:tls'

/** How long one address may take to connect before the next is tried beside it. */
const CONNECT_TRY_MS = 2_000

export type Bounds = {
  /** Answers the question for the host's addresses. */
  readonly lookup: LookupFunction
  readonly maxBytes: number
}

export type BoundedConnection = {
  /** What HTTP is spoken over: the connection itself, or TLS on it. */
  readonly stream: Duplex
  /** How far it got, which says what kind of failure ended it more reliably than a list of error codes. */
  readonly failure: () => 'tls' | 'connection'
  /** The one it is connected to; undefined while it is to none. */
  readonly address: () => string | undefined
  /** From here on as many bytes may come as may from a new one. */
  readonly renew: () => void
  readonly close: () => void
}

/**
 * Connects to a URL's host and hands on so many bytes of what comes from there, as if the other side had stopped then.
 * They are counted where they arrive, below TLS and HTTP: handshakes, informational answers, headers and bodies alike.
 */
export const boundedConnection = (
  { protocol, hostname, port }: URL,
  { lookup, maxBytes }: Bounds,
): BoundedConnection => {
  const secure = protocol === 'https:'
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({
    host,
    port: Number(port) || (secure ? 443 : 80),
    lookup,
    // Headers and body are two writes: without this the second waits for the other side's delayed acknowledgement (40 ms).
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECT_TRY_MS,
  })
  const { bounded, renew } = upTo(maxBytes, socket)
  const stream = secure ? overTls(bounded, host) : bounded
  // Whoever speaks over it hears of errors; one that comes after that has nobody to tell.
  stream.on('error', () => {})
  let connected = false
  let secured = false
  socket.once('connect', () => {
    connected = true
  })
  stream.once('secureConnect', () => {
    secured = true
  })
  return {
    stream,
    failure: () => (secure && connected && !secured ? 'tls' : 'connection'),
    address: () => socket.remoteAddress,
    renew,
    close: () => {
      stream.destroy()
      socket.destroy()
    },
  }
}

const overTls = (socket: Duplex, host: string): tls.TLSSocket =>
  tls.connect({
    socket,
    host,
    // An address has no place in SNI; the certificate is compared with `host` either way.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  })

/** The socket, whose other side seems to have ended after so many bytes; the rest is never read. */
const upTo = (maxBytes: number, socket: Socket) => {
  let left = maxBytes
  const bounded = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, encoding, done) => void socket.write(chunk, encoding, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  socket.on('data', (chunk: Buffer) => {
    if (!bounded.push(chunk.subarray(0, left))) socket.pause()
    left -= chunk.length
    if (left > 0) return
    socket.destroy()
    bounded.push(null)
  })
  socket.on('end', () => bounded.push(null))
  socket.on('error', (error) => bounded.destroy(error))
  const renew = () => {
    left = maxBytes
  }
  return { bounded, renew }
}
