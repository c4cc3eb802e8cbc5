import type { LookupFunction } from 'node:net'
import type { ResolvedAddress, ResolveHost, SendWebhook, WebhookRequest } from '../../send-webhook.ts'
import { inspectAddresses, inspectUrl, type UrlRules } from '../endpoint/safe-url.ts'
import { boundedConnection } from './bounded-connection.ts'
import { type KeptConnections, keptConnections } from './kept-connections.ts'
import { failed, type Outcome, postOver } from './post-over.ts'
import { resolveByDns } from './resolve-by-dns.ts'

/** Spec section 8: webhook timeout, from the first DNS query to the status line. */
const DEADLINE_MS = 10_000
/** How long an answer's body may take once its status is known. Only the status decides. */
const BODY_GRACE_MS = 1_000
/**
 * The most bytes that are read of an attempt, handshake, informational answers and headers included. A merchant's
 * answer needs a tenth.
 */
const READ_BYTES = 65_536

const CONNECT_TRIES = 4

export type SenderOptions = UrlRules & {
  readonly monotonicMs: () => number
  /** The machine's own time of day. */
  readonly nowMs: () => number
  readonly resolve?: ResolveHost
  readonly deadlineMs?: number
  readonly bodyGraceMs?: number
}

/**
 * Sends a webhook (spec 6.4): no redirects, one deadline over DNS, connect, TLS and status line, and only to addresses
 * that this attempt has checked. A new socket gets those addresses instead of the name, so a second DNS answer cannot
 * redirect it. A kept connection is used if it leads to one of them. One attempt writes its request once. Never throws.
 */
export const httpsWebhookSender = (options: SenderOptions): SendWebhook => {
  const kept = keptConnections(options)
  return async (request) => {
    const startedMs = options.monotonicMs()
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), options.deadlineMs ?? DEADLINE_MS)
    try {
      const outcome = await attempt(options, kept, request, deadline.signal)
      return { ...outcome, durationMs: Math.round(options.monotonicMs() - startedMs) }
    } catch {
      // node refuses to send some requests; its error may quote the request.
      return { ...failed('unknown'), durationMs: Math.round(options.monotonicMs() - startedMs) }
    } finally {
      clearTimeout(timer)
    }
  }
}

const attempt = async (
  options: SenderOptions,
  kept: KeptConnections,
  request: WebhookRequest,
  deadline: AbortSignal,
): Promise<Outcome> => {
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
      return post(options, kept, { ...request, target: verdict.url, addresses: resolved.addresses }, deadline)
  }
}

const abortOf = (signal: AbortSignal): Promise<{ readonly kind: 'aborted' }> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true })
  })

/** Answers node's lookup of the name with the addresses that were checked. */
const checkedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first] = addresses
    if (all === true) callback(null, [...addresses])
    else if (first) callback(null, first.address, first.family)
    else callback(new Error('no checked address'), '', 4)
  }

type CheckedRequest = WebhookRequest & { readonly target: URL; readonly addresses: readonly ResolvedAddress[] }

const post = async (
  { bodyGraceMs = BODY_GRACE_MS }: SenderOptions,
  kept: KeptConnections,
  request: CheckedRequest,
  deadline: AbortSignal,
): Promise<Outcome> => {
  const { target, addresses } = request
  const used = await kept.take(target, addresses)
  if (deadline.aborted) {
    used?.close()
    return failed('timeout')
  }
  used?.renew()
  const outcome = await postOver(request, {
    connect: () =>
      used ??
      boundedConnection(target, {
        lookup: checkedLookup(addresses.slice(0, CONNECT_TRIES)),
        maxBytes: READ_BYTES,
      }),
    deadline,
    bodyGraceMs,
    whenFree: (connection) => kept.keep(target, connection),
  }).catch((error: unknown) => {
    used?.close()
    throw error
  })
  // The request may have arrived, so it counts as an attempt and is not sent again here.
  if (used && outcome.error === 'connection') kept.distrust(target)
  return outcome
}
