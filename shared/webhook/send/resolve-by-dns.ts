import { Resolver } from 'node:dns/promises'
import type { ResolveHost } from '../../send-webhook.ts'

const QUERY_TIMEOUT_MS = 1_000
const QUERY_TRIES = 2

/** Made once and on demand: it is a channel with its own sockets. */
let resolver: Resolver | undefined

/**
 * Asks the name servers for both families at once. `dns.lookup` would block a thread of a small pool until the system's
 * resolver gives up, so a few dead name servers would delay all other deliveries.
 */
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
