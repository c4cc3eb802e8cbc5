import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ResolvedAddress, ResolveHost } from '../../resolve-host.ts'
import type { SendWebhook, WebhookRequest, WebhookResult } from '../../send-webhook.ts'
import { inspectAddresses, inspectUrl, type UrlRules } from '../endpoint/safe-url.ts'
import { type BoundedConnection, type Bounds, boundedConnection } from './bounded-connection.ts'
import { resolveByDns } from './resolve-by-dns.ts'

/** Spec section 8: webhook timeout, from the first DNS query to the status line. */
const DEADLINE_MS = 10_000
/** How long an answer's body may take once its status is known; the status alone decides. */
const BODY_GRACE_MS = 1_000
/** Spec section 8: stored response body. */
const STORED_BYTES = 1_024
/** All that is read of an attempt: handshake, informational answers and headers too. A merchant's answer needs a tenth. */
const READ_BYTES = 65_536
/** `103 Early Hints` and the like before the answer itself. */
const MAX_INFORMATIONAL = 10

const CONNECT_TRIES = 4

/** Some firewalls refuse requests that do not say who they are. */
const COMMON_HEADERS = { 'User-Agent': 'gateway-webhooks/1', Accept: '*/*' }

export type SenderOptions = UrlRules & {
  readonly monotonicMs: () => number
  readonly resolve?: ResolveHost
  readonly deadlineMs?: number
  readonly bodyGraceMs?: number
}

type Outcome = Omit<WebhookResult, 'durationMs'>

const failed = (error: NonNullable<WebhookResult['error']>): Outcome => ({
  delivered: false,
  httpStatus: undefined,
  error,
  responseBody: undefined,
})

/**
 * Sends a webhook over a connection of its own (spec 6.4, design section 4 Deliver): no redirects, one deadline over
 * DNS, connect, TLS and status line, and only to addresses that were checked. The socket is given those addresses
 * instead of the name, so a second DNS answer cannot lead it elsewhere. Never throws.
 */
export const httpsWebhookSender =
  (options: SenderOptions): SendWebhook =>
  async (request) => {
    const startedMs = options.monotonicMs()
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), options.deadlineMs ?? DEADLINE_MS)
    try {
      const outcome = await attempt(options, request, deadline.signal)
      return { ...outcome, durationMs: Math.round(options.monotonicMs() - startedMs) }
    } catch {
      // Whatever node refuses to send at all; what it said may quote the request.
      return { ...failed('unknown'), durationMs: Math.round(options.monotonicMs() - startedMs) }
    } finally {
      clearTimeout(timer)
    }
  }

const attempt = async (options: SenderOptions, request: WebhookRequest, deadline: AbortSignal): Promise<Outcome> => {
  const verdict = inspectUrl(request.url, options)
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
    case 'allowed':
      return post(options, { ...request, target: verdict.url, addresses: resolved.addresses }, deadline)
  }
}

const abortOf = (signal: AbortSignal): Promise<{ readonly kind: 'aborted' }> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true })
  })

/** Answers node's question for the name's addresses with the ones already checked. */
const checkedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first] = addresses
    if (all === true) callback(null, [...addresses])
    else if (first) callback(null, first.address, first.family)
    else callback(new Error('no checked address'), '', 4)
  }

type CheckedRequest = WebhookRequest & { readonly target: URL; readonly addresses: readonly ResolvedAddress[] }

const post = (options: SenderOptions, request: CheckedRequest, deadline: AbortSignal): Promise<Outcome> =>
  new Promise((resolve) => {
    let connection: BoundedConnection | undefined
    const outgoing = requestOver(request, (bounds) => {
      connection = boundedConnection(request.target, bounds)
      return connection.stream
    })
    let answer: Answer | undefined
    let informational = 0
    let grace: NodeJS.Timeout | undefined

    const finish = (otherwise: 'connection' | 'timeout') => {
      deadline.removeEventListener('abort', onDeadline)
      clearTimeout(grace)
      resolve(
        answer
          ? outcomeOf(answer)
          : failed(otherwise === 'timeout' ? otherwise : (connection?.failure() ?? 'connection')),
      )
      outgoing.destroy()
      connection?.close()
    }
    const onDeadline = () => finish('timeout')
    const onEnd = () => finish('connection')

    const onResponse = (response: http.IncomingMessage) => {
      const read: Answer = { status: response.statusCode ?? 0, chunks: [], bytes: 0 }
      answer = read
      grace = setTimeout(onEnd, options.bodyGraceMs ?? BODY_GRACE_MS)
      response.on('data', (chunk: Buffer) => {
        read.chunks.push(chunk)
        read.bytes += chunk.length
        if (read.bytes >= STORED_BYTES) onEnd()
      })
      response.on('end', onEnd)
      response.on('error', onEnd)
    }

    deadline.addEventListener('abort', onDeadline, { once: true })
    outgoing.on('response', onResponse)
    outgoing.on('information', () => {
      if (++informational > MAX_INFORMATIONAL) onEnd()
    })
    // Nobody asked for another protocol; the status line is the answer, and it is not a 2xx.
    outgoing.on('upgrade', (response) => {
      onResponse(response)
      onEnd()
    })
    outgoing.on('error', onEnd)
    outgoing.on('close', onEnd)
    outgoing.end(request.body)
  })

/** Over a connection of the attempt's own: one that a merchant has half closed must not fail the next delivery. */
const requestOver = (
  { target, headers, body, addresses }: CheckedRequest,
  open: (bounds: Bounds) => Duplex,
): http.ClientRequest =>
  (target.protocol === 'https:' ? https : http).request(target, {
    method: 'POST',
    headers: { ...COMMON_HEADERS, ...headers, 'Content-Length': body.length },
    // Called once node has found nothing wrong with the request.
    createConnection: () => open({ lookup: checkedLookup(addresses.slice(0, CONNECT_TRIES)), maxBytes: READ_BYTES }),
    // Whatever is read may be headers.
    maxHeaderSize: READ_BYTES,
  })

type Answer = { readonly status: number; readonly chunks: Buffer[]; bytes: number }

const outcomeOf = ({ status, chunks }: Answer): Outcome => {
  const delivered = status >= 200 && status <= 299
  return {
    delivered,
    httpStatus: status,
    error: delivered ? undefined : 'http_status',
    responseBody: textOf(Buffer.concat(chunks).subarray(0, STORED_BYTES)),
  }
}

/** UTF-8 whose last character may have been cut: as a stream's start, so the broken rest is left out. */
const textOf = (bytes: Buffer): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
