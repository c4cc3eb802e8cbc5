import { BlockList, isIP } from 'node:net'

type Range = readonly [network: string, prefix: number]

/** Addresses that are no host on the public internet (IANA special-purpose registry, multicast and reserved). */
const SPECIAL_IPV4: readonly Range[] = [
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
]

/**
 * Only global unicast is public in IPv6; the rest needs no list (mapped, NAT64, unique local, link-local and others).
 */
const PUBLIC_IPV6: readonly Range[] = [['2000::', 3]]

/** Special ranges inside global unicast. */
const SPECIAL_IPV6: readonly Range[] = [
  ['2001::', 23], // protocol assignments: Teredo, benchmarking, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which wraps any IPv4 address
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
]

const listOf = (family: 'ipv4' | 'ipv6', ranges: readonly Range[]) => {
  const list = new BlockList()
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family)
  return list
}

const specialIpv4 = listOf('ipv4', SPECIAL_IPV4)
const publicIpv6 = listOf('ipv6', PUBLIC_IPV6)
const specialIpv6 = listOf('ipv6', SPECIAL_IPV6)

/** True for the plain form of an address on the public internet that is not of our own network. */
export const isPublicAddress = (address: string): boolean => {
  if (address.includes('%')) return false
  switch (isIP(address)) {
    case 4:
      return !specialIpv4.check(address, 'ipv4')
    case 6:
      return publicIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6')
    default:
      return false
  }
}
