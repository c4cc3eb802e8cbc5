import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import * as tls from 'node:tls'

/** How long one address may take to connect before the next is tried as well. */
const CONNECT_TRY_MS = 2_000

export type Bounds = {
  /** Resolves the host's addresses. */
  readonly lookup: LookupFunction
  readonly maxBytes: number
}

export type BoundedConnection = {
  /** The connection that carries HTTP: plain, or with TLS. */
  readonly stream: Duplex
  /** How far it got. That tells the kind of a failure more reliably than a list of error codes. */
  readonly failure: () => 'tls' | 'connection'
  /** The address that it is connected to; undefined before. */
  readonly address: () => string | undefined
  /** From here on it may receive as many bytes as a new connection. */
  readonly renew: () => void
  readonly close: () => void
}

/**
 * Connects to a URL's host and passes on a limited number of bytes, as if the other side had stopped then. Bytes are
 * counted on arrival, below TLS and HTTP: handshakes, informational answers, headers and bodies.
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
    // Headers and body are two writes. Without this the second waits for the other side's delayed acknowledgement (40
    // ms).
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECT_TRY_MS,
  })
  const { bounded, renew } = upTo(maxBytes, socket)
  const stream = secure ? overTls(bounded, host) : bounded
  // The user of the connection hears of errors. A later error has no listener.
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
    // SNI takes no address. The certificate is compared with `host` either way.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  })

/** The socket. The other side seems to have ended after the limit; the rest is never read. */
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
