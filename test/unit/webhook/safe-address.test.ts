import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../../shared/webhook/endpoint/is-public-address.ts'

const PUBLIC = [
  '8.8.8.8 1.1.1.1 93.184.216.34 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0',
  '192.0.1.0 198.17.255.255 198.20.0.0 223.255.255.255',
  '2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001:81b::200e 2001:200::1 3ffe::1',
]

const SPECIAL: Readonly<Record<string, string>> = {
  'this network': '0.0.0.0 0.1.2.3',
  private: '10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1',
  'carrier-grade NAT': '100.64.0.1 100.127.255.255',
  loopback: '127.0.0.1 127.255.255.254 ::1',
  'link-local': '169.254.1.1 fe80::1',
  'the metadata service': '169.254.169.254 fd00:ec2::254',
  'container credentials': '169.254.170.2',
  'protocol assignments': '192.0.0.8',
  documentation: '192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff:abc::1',
  '6to4': '192.88.99.1 2002:a00:1::1',
  benchmarking: '198.18.0.1 198.19.255.255 2001:2::1',
  multicast: '224.0.0.1 239.255.255.255 ff02::1',
  reserved: '240.0.0.1',
  broadcast: '255.255.255.255',
  unspecified: '::',
  'IPv4 in IPv6': '::7f00:1 ::ffff:10.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:7f00:1',
  NAT64: '64:ff9b::a00:1 64:ff9b:1::1',
  discard: '100::1',
  Teredo: '2001::1',
  ORCHID: '2001:20::1',
  'segment routing': '5f00::1',
  'unique local': 'fc00::1',
  'an address with a zone': 'fe80::1%eth0 2606:4700::1%1',
  'site-local': 'fec0::1',
  'no plain address': 'localhost 0x7f.1 2130706433',
  nothing: '',
}

describe('isPublicAddress', () => {
  it.each(PUBLIC.flatMap((line) => line.split(' ')))('lets a webhook go to %s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  const special = Object.entries(SPECIAL).flatMap(([kind, line]) =>
    line.split(' ').map((address) => ({ address, kind })),
  )

  it.each(special)('refuses $kind: $address', ({ address }) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
