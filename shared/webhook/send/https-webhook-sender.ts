import { Resolver } from 'node:dns/promises'
import type { ResolveHost, SendWebhook, WebhookRequest } from '../../send-webhook.ts'
import { inspectAddresses, inspectUrl, type UrlRules } from '../endpoint/safe-url.ts'
import { failed, type Outcome, postWebhook } from './post-webhook.ts'

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
    signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true })
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
