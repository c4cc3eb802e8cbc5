import { BlockList, isIP } from 'node:net'
import { invalidField } from '../../errors.ts'
import type { ResolvedAddress, ResolveHost } from '../../send-webhook.ts'
import type { StageSettings } from '../../stage-settings.ts'

export type UrlRules = Pick<StageSettings, 'allowLoopbackWebhooks' | 'httpsPortOnly'>

const LOOPBACK_IPV4 = { address: '127.0.0.1', family: 4 } as const
const LOOPBACK_IPV6 = { address: '::1', family: 6 } as const
/** The only hosts that count as loopback in stage local, with their fixed addresses. */
const LOOPBACK_HOSTS: ReadonlyMap<string, readonly ResolvedAddress[]> = new Map([
  ['localhost', [LOOPBACK_IPV4, LOOPBACK_IPV6]],
  ['127.0.0.1', [LOOPBACK_IPV4]],
  ['[::1]', [LOOPBACK_IPV6]],
])

// The URL parser silently drops tabs, line ends and invisible characters. The shown URL must be the
// called URL. A literal loads tables of Unicode at each start.
const HIDDEN = '[\\s\\p{Cc}\\p{Cf}]'

/** IANA special-purpose registry, multicast and reserved. */
const SPECIAL = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, and the cloud's metadata services
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, and broadcast
  ['2001::', 23], // protocol assignments: Teredo, benchmarking, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which wraps any IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
] as const

const specialNetworks = new BlockList()
for (const [network, prefix] of SPECIAL)
  specialNetworks.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4')

/** Global unicast: nothing else is public in IPv6. */
const publicIpv6 = new BlockList()
publicIpv6.addSubnet('2000::', 3, 'ipv6')

/** The URL of a webhook, or why it is refused, at registration and at each delivery. */
export function inspectUrl(text: string, rules: UrlRules): URL | string {
  // The parser supplies slashes that are missing, and drops those that are too many.
  const isHidden = /[^!-~]/.test(text) && new RegExp(HIDDEN, 'u').test(text)
  if (isHidden || !/^[a-z]+:\/\/[^/\\]/i.test(text) || !URL.canParse(text))
    return 'must be a full URL'
  const url = new URL(text)
  const isLoopback = rules.allowLoopbackWebhooks && LOOPBACK_HOSTS.has(url.hostname)
  if (url.protocol !== 'https:' && !(isLoopback && url.protocol === 'http:'))
    return 'must be an https URL'
  if (url.username !== '' || url.password !== '') return 'must not carry user info'
  if (isLoopback) return url
  if (rules.httpsPortOnly && url.port !== '')
    return 'must use port 443, the only port that webhooks may use'
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return 'must name a host, not an address'
  // RFC 6761: such a name means loopback on every machine.
  return /(^|\.)localhost\.?$/.test(url.hostname) ? 'must name a host on the public internet' : url
}

/** One special address refuses the URL, because a name with mixed addresses is an attack. */
export async function inspectAddresses(url: URL, rules: UrlRules, resolve: ResolveHost) {
  const loopback = rules.allowLoopbackWebhooks && LOOPBACK_HOSTS.get(url.hostname)
  if (loopback) return loopback
  const addresses = await resolve(url.hostname).catch(() => [])
  if (addresses.length === 0) return 'dns'
  return addresses.every(({ address }) => isPublicAddress(address)) ? addresses : 'address_refused'
}

/** An address on the public internet in plain form, and not of our own network. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !specialNetworks.check(address, 'ipv4')
  if (family !== 6 || address.includes('%')) return false
  return publicIpv6.check(address, 'ipv6') && !specialNetworks.check(address, 'ipv6')
}

/**
 * The URL as it will be called: a host in other letters, a backslash or a part that is never sent
 * cannot make people take it for another one. Throws 422 for a URL that gets no delivery. A name
 * may resolve later: each delivery checks again.
 */
export async function requireSafeUrl(
  text: string,
  rules: UrlRules,
  resolve: ResolveHost,
): Promise<string> {
  const url = inspectUrl(text, rules)
  if (typeof url === 'string') throw urlRefusal(url)
  const addresses = await inspectAddresses(url, rules, resolve)
  if (addresses === 'address_refused') throw urlRefusal('resolves to a private or special address')
  url.hash = ''
  return url.href
}

function urlRefusal(reason: string) {
  return invalidField('url', reason, 'Give the full https URL of a host on the public internet.')
}
