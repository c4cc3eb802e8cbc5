import { Resolver } from 'node:dns/promises'
import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction, Socket, TcpNetConnectOpts } from 'node:net'
import type { ResolvedAddress, ResolveHost, SendWebhook, WebhookRequest, WebhookResult } from '../../send-webhook.ts'
import { inspectAddresses, inspectUrl, type UrlRules } from '../endpoint/safe-url.ts'

/** Spec section 8: webhook timeout, from the first DNS query to the status line. */
const DEADLINE_MS = 10_000
/** How long an answer's body may take once its status is known. Only the status decides. */
const BODY_GRACE_MS = 1_000

export type SenderOptions = UrlRules & {
  readonly monotonicMs: () => number
  readonly resolve?: ResolveHost
  readonly deadlineMs?: number
  readonly bodyGraceMs?: number
}

/**
 * Sends a webhook (spec 6.4): no redirects, one deadline over DNS, connect, TLS and status line, and only to addresses
 * that this attempt has checked. The socket gets those addresses instead of the name, so a second DNS answer cannot
 * redirect it. One attempt writes its request once. Never throws.
 */
export const httpsWebhookSender =
  (options: SenderOptions): SendWebhook =>
  async (request) => {
    const startedMs = options.monotonicMs()
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), options.deadlineMs ?? DEADLINE_MS)
    // node refuses to send some requests; its error may quote the request.
    const outcome = await attempt(options, request, deadline.signal).catch(() => failed('unknown'))
    clearTimeout(timer)
    return { ...outcome, durationMs: Math.round(options.monotonicMs() - startedMs) }
  }

const attempt = async (
  options: SenderOptions,
  { url, headers, body }: WebhookRequest,
  deadline: AbortSignal,
): Promise<Outcome> => {
  const verdict = inspectUrl(url, options)
  if (!verdict.allowed) return failed('address_refused')
  const resolved = await Promise.race([
    inspectAddresses(verdict.url, options, options.resolve ?? resolveByDns),
    abortOf(deadline),
  ])
  switch (resolved.kind) {
    case 'aborted':
      return failed('timeout')
    case 'unresolved':
      return failed('dns')
    case 'refused':
      return failed('address_refused')
    case 'allowed': {
      if (deadline.aborted) return failed('timeout')
      const { bodyGraceMs = BODY_GRACE_MS } = options
      const target = verdict.url
      return postWebhook({ target, addresses: resolved.addresses, headers, body }, { deadline, bodyGraceMs })
    }
  }
}

const abortOf = (signal: AbortSignal): Promise<{ readonly kind: 'aborted' }> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'aborted' }))
  })

const QUERY_TIMEOUT_MS = 1_000
const QUERY_TRIES = 2

/** Made once and on demand: it is a channel with its own sockets. */
let resolver: Resolver | undefined

/** Asks the name servers. With dead ones `dns.lookup` would block a small pool of threads for all deliveries. */
export const resolveByDns: ResolveHost = async (hostname) => {
  resolver ??= new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  // Many names have one family only, and some name servers do not answer for the other.
  if (ipv4.status === 'rejected' && ipv6.status === 'rejected') {
    throw new Error('the name does not resolve', { cause: ipv4.reason })
  }
  return [
    ...(ipv4.status === 'fulfilled' ? ipv4.value : []).map((address) => ({ address, family: 4 as const })),
    ...(ipv6.status === 'fulfilled' ? ipv6.value : []).map((address) => ({ address, family: 6 as const })),
  ]
}

/** Spec section 8: stored response body. */
const STORED_BYTES = 1_024
/** The most bytes that are read before an answer's body: informational answers and headers. */
const READ_BYTES = 65_536
/** Informational answers, such as `103 Early Hints`, before the answer itself. */
const MAX_INFORMATIONAL = 10
const MAX_ADDRESSES = 4
/** How long one address may take to connect before the next is tried as well. */
const CONNECT_TRY_MS = 2_000

/** Some firewalls refuse requests without a user agent. */
const COMMON_HEADERS = { 'User-Agent': 'gateway-webhooks/1', Accept: '*/*' }

export type Outcome = Omit<WebhookResult, 'durationMs'>

export const failed = (error: NonNullable<WebhookResult['error']>): Outcome => ({
  delivered: false,
  httpStatus: undefined,
  error,
  responseBody: undefined,
})

type CheckedRequest = Pick<WebhookRequest, 'headers' | 'body'> & {
  readonly target: URL
  readonly addresses: readonly ResolvedAddress[]
}

type Limits = { readonly deadline: AbortSignal; readonly bodyGraceMs: number }

/** Writes one request to a checked address and reads its answer. Throws only if node refuses to send it. */
export const postWebhook = (request: CheckedRequest, { deadline, bodyGraceMs }: Limits): Promise<Outcome> => {
  const outgoing = requestTo(request)
  return new Promise((resolve) => {
    const failure = failureOf(outgoing)
    const chunks: Buffer[] = []
    let httpStatus: number | undefined
    let grace: NodeJS.Timeout | undefined
    let informational = 0

    const finish = (otherwise: 'timeout' | 'connection') => {
      // Whatever comes later starts no timer.
      outgoing.off('response', onAnswer)
      resolve(httpStatus === undefined ? failed(failure(otherwise)) : outcomeOf(httpStatus, Buffer.concat(chunks)))
      deadline.removeEventListener('abort', onDeadline)
      clearTimeout(grace)
      outgoing.destroy()
    }
    const onDeadline = () => finish('timeout')
    const onEnd = () => finish('connection')
    const onAnswer = (response: http.IncomingMessage) => {
      httpStatus = response.statusCode
      grace = setTimeout(onEnd, bodyGraceMs)
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (chunks.reduce((sum, { length }) => sum + length, 0) >= STORED_BYTES) onEnd()
      })
      response.on('error', onEnd)
      response.on('end', onEnd)
    }

    deadline.addEventListener('abort', onDeadline)
    outgoing.on('response', onAnswer)
    // We requested no protocol upgrade. The status line is the answer, and it is no 2xx.
    outgoing.on('upgrade', (response) => {
      onAnswer(response)
      onEnd()
    })
    outgoing.on('information', () => {
      if (++informational > MAX_INFORMATIONAL) onEnd()
    })
    outgoing.on('socket', (socket) => endAfterBytes(socket, () => httpStatus === undefined && onEnd()))
    outgoing.on('error', onEnd)
    outgoing.on('close', onEnd)
    outgoing.end(request.body)
  })
}

const requestTo = ({ target, headers, body, addresses }: CheckedRequest): http.ClientRequest => {
  const connection: TcpNetConnectOpts = {
    port: Number(target.port) || (target.protocol === 'https:' ? 443 : 80),
    lookup: checkedLookup(addresses.slice(0, MAX_ADDRESSES)),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECT_TRY_MS,
    // Headers and body are two writes. Without this the second waits for a delayed acknowledgement (40 ms).
    noDelay: true,
  }
  return (target.protocol === 'https:' ? https : http).request(target, {
    ...connection,
    method: 'POST',
    headers: { ...COMMON_HEADERS, ...headers, 'Content-Length': body.length },
    agent: false,
    maxHeaderSize: READ_BYTES,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  })
}

/** Answers node's lookup of the name with the addresses that were checked. */
const checkedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first] = addresses
    if (all === true) callback(null, [...addresses])
    else if (first) callback(null, first.address, first.family)
    else callback(new Error('no checked address'), '', 4)
  }

/** How far the connection got tells the kind of a failure more reliably than a list of error codes. */
const failureOf = (outgoing: http.ClientRequest) => {
  const reached = new Set<'connect' | 'secureConnect'>()
  outgoing.on('socket', (socket) => {
    for (const step of ['connect', 'secureConnect'] as const) socket.once(step, () => reached.add(step))
  })
  return (otherwise: 'timeout' | 'connection') => {
    const isTls = outgoing.protocol === 'https:' && reached.has('connect') && !reached.has('secureConnect')
    return otherwise === 'connection' && isTls ? 'tls' : otherwise
  }
}

/** Counts below HTTP, because endless informational answers or empty lines never become an answer. */
const endAfterBytes = (socket: Socket, onEnough: () => unknown): void => {
  let bytes = 0
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes >= READ_BYTES) onEnough()
  })
}

const outcomeOf = (httpStatus: number, body: Buffer): Outcome => {
  const delivered = httpStatus >= 200 && httpStatus <= 299
  return {
    delivered,
    httpStatus,
    error: delivered ? undefined : 'http_status',
    responseBody: textOf(body.subarray(0, STORED_BYTES)),
  }
}

/** UTF-8 whose last character may be cut: it is decoded as the start of a stream, so a broken rest is left out. */
const textOf = (bytes: Buffer): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
