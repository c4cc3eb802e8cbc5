import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { TcpNetConnectOpts } from 'node:net'
import type {
  ResolvedAddress,
  ResolveHost,
  SendWebhook,
  WebhookRequest,
  WebhookResult,
} from '../../send-webhook.ts'
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

type Outcome = Omit<WebhookResult, 'durationMs'>

/**
 * Sends a webhook (spec 6.4): no redirects, one deadline over DNS, connect, TLS and status line,
 * and only to addresses that this attempt has checked. The socket gets those addresses instead of
 * the name, so a second DNS answer cannot redirect it. One attempt writes its request once. Never
 * throws.
 */
export function httpsWebhookSender(options: SenderOptions): SendWebhook {
  return async (request) => {
    const startedMs = options.monotonicMs()
    const deadline = AbortSignal.timeout(options.deadlineMs ?? DEADLINE_MS)
    // node refuses to send some requests; its error may quote the request.
    const outcome = await attemptRequest(options, request, deadline).catch(
      (): Outcome => ({ error: 'unknown' }),
    )
    return { ...outcome, durationMs: Math.round(options.monotonicMs() - startedMs) }
  }
}

async function attemptRequest(
  options: SenderOptions,
  { url, ...request }: WebhookRequest,
  deadline: AbortSignal,
): Promise<Outcome> {
  const target = inspectUrl(url, options)
  if (typeof target === 'string') return { error: 'address_refused' }
  const addresses = await Promise.race([
    inspectAddresses(target, options, options.resolve ?? resolveByDns),
    once(deadline, 'abort').then(() => 'timeout' as const),
  ])
  if (deadline.aborted) return { error: 'timeout' }
  if (typeof addresses === 'string') return { error: addresses }
  return postWebhook({ ...request, target, addresses }, deadline, options.bodyGraceMs)
}

const QUERY_TIMEOUT_MS = 1_000
const QUERY_TRIES = 2

/** The resolver is made once and on demand, because it has its own sockets. */
let resolver: Resolver | undefined

/**
 * Asks the name servers. With dead name servers, `dns.lookup` would block a small pool of threads
 * for all deliveries.
 */
export async function resolveByDns(hostname: string): Promise<readonly ResolvedAddress[]> {
  resolver ??= new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES })
  // Many names have one family only, and some name servers do not answer for the other family.
  const families = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ])
  return families.flatMap((lookup, at) =>
    lookup.status === 'fulfilled'
      ? lookup.value.map((address) => ({ address, family: at === 0 ? 4 : 6 }))
      : [],
  )
}

/** Spec section 8: stored response body. */
const STORED_BYTES = 1_024
/** The most bytes that are read before an answer's body: informational answers and headers. */
const READ_BYTES = 65_536

type CheckedRequest = Omit<WebhookRequest, 'url'> & {
  readonly target: URL
  readonly addresses: readonly ResolvedAddress[]
}

/** Throws only if node refuses to send the request. */
export function postWebhook(
  request: CheckedRequest,
  deadline: AbortSignal,
  bodyGraceMs = BODY_GRACE_MS,
): Promise<Outcome> {
  const outgoing = requestTo(request)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let httpStatus: number | undefined
    let grace: NodeJS.Timeout | undefined
    let bytes = 0
    // How far the connection got tells the kind of a failure more reliably than a list of error
    // codes.
    let failure: 'connection' | 'tls' = 'connection'

    const end = () => {
      // A later answer starts no timer.
      outgoing.off('response', onAnswer)
      const error = deadline.aborted ? 'timeout' : failure
      resolve(httpStatus === undefined ? { error } : outcomeOf(httpStatus, Buffer.concat(chunks)))
      deadline.removeEventListener('abort', end)
      clearTimeout(grace)
      outgoing.destroy()
    }
    const onAnswer = (response: http.IncomingMessage) => {
      httpStatus = response.statusCode
      grace = setTimeout(end, bodyGraceMs)
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        if (Buffer.concat(chunks).length >= STORED_BYTES) end()
      })
      response.on('error', end).on('end', end)
    }

    deadline.addEventListener('abort', end)
    outgoing.on('response', onAnswer)
    // We requested no upgrade. The status line is the answer, and it is no 2xx.
    outgoing.on('upgrade', (response) => {
      onAnswer(response)
      end()
    })
    outgoing.on('socket', (socket) => {
      socket.once('connect', () => {
        if (outgoing.protocol === 'https:') failure = 'tls'
      })
      socket.once('secureConnect', () => {
        failure = 'connection'
      })
      // Counts below HTTP, because endless informational answers or empty lines never become an
      // answer.
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes >= READ_BYTES && httpStatus === undefined) end()
      })
    })
    outgoing.on('error', end).on('close', end)
    outgoing.end(request.body)
  })
}

const MAX_ADDRESSES = 4
/** An address that takes longer to connect: the next one is tried as well. */
const CONNECT_TRY_MS = 2_000

function requestTo({ target, headers, body, addresses }: CheckedRequest) {
  const checkedAddresses = addresses.slice(0, MAX_ADDRESSES)
  const connection: Partial<TcpNetConnectOpts> = {
    // With `autoSelectFamily` node asks for all addresses of a name.
    lookup: (_hostname, _options, answer) => answer(null, checkedAddresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: CONNECT_TRY_MS,
    // Headers and body are two writes. Without `noDelay` the second write waits for a delayed
    // acknowledgement (40 ms).
    noDelay: true,
  }
  return (target.protocol === 'https:' ? https : http).request(target, {
    ...connection,
    method: 'POST',
    // Some firewalls refuse requests without a user agent.
    headers: {
      'User-Agent': 'gateway-webhooks/1',
      Accept: '*/*',
      ...headers,
      'Content-Length': body.length,
    },
    agent: false,
    maxHeaderSize: READ_BYTES,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  })
}

function outcomeOf(httpStatus: number, body: Buffer): Outcome {
  return {
    httpStatus,
    ...((httpStatus < 200 || httpStatus > 299) && { error: 'http_status' }),
    // The last character may be cut; a decoded stream leaves a broken end out.
    responseBody: new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      body.subarray(0, STORED_BYTES),
      { stream: true },
    ),
  }
}
