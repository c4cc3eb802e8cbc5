import type { ResolveHost, SendWebhook, WebhookRequest } from '../../send-webhook.ts'
import { inspectAddresses, inspectUrl, type UrlRules } from '../endpoint/safe-url.ts'
import { failed, type Outcome, postWebhook } from './post-webhook.ts'
import { resolveByDns } from './resolve-by-dns.ts'

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
