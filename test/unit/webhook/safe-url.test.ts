import { describe, expect, it } from 'vitest'
import type { ResolveHost } from '../../../shared/send-webhook.ts'
import {
  inspectAddresses,
  inspectUrl,
  isPublicAddress,
  requireSafeUrl,
  type UrlRules,
} from '../../../shared/webhook/endpoint/safe-url.ts'

const DEPLOYED = { allowLoopbackWebhooks: false }
const LOCAL = { allowLoopbackWebhooks: true }

function resolvesTo(...addresses: readonly string[]): ResolveHost {
  return async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

async function resolvesToNothing() {
  return Promise.reject(new Error('queryA ENOTFOUND'))
}

function reasonOf(text: string, rules: UrlRules = DEPLOYED) {
  const verdict = inspectUrl(text, rules)
  return typeof verdict === 'string' ? verdict : 'allowed'
}

function words(line: string) {
  return line.split(' ')
}

const VERDICTS = {
  allowed: [
    'https://merchant.example https://merchant.example/hooks?shop=1#part ' +
      'https://merchant.example:8443/hooks',
    'https://sub.merchant.co.id/a/b/c https://xn--mnchen-3ya.example/ ' +
      'https://münchen.example/ https://constructor/',
  ],
  'must be a full URL': [
    'merchant.example /hooks https:// https:/// https:///merchant.example https:merchant.example ' +
      'file:///etc/passwd javascript:alert(1) data:text/plain,x',
  ],
  'must be an https URL': ['http://merchant.example/ ftp://merchant.example/'],
  'must not carry user info': [
    'https://user@merchant.example/ https://user:pass@merchant.example/ ' +
      'https://:pass@merchant.example/',
  ],
  'must name a host, not an address': [
    'https://127.0.0.1/ https://127.1/ https://0x7f.1/ https://0x7f000001/ ' +
      'https://2130706433/ https://017700000001/',
    'https://127.0.0.1./ https://１２７.0.0.1/ https://0/ https://8.8.8.8/ ' +
      'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/ https://[::]/ https://[0:0:0:0:0:0:0:1]/ https://[::ffff:7f00:1]/ ' +
      'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/ https://[fd00:ec2::254]/ https://[2606:4700:4700::1111]/',
  ],
  'must name a host on the public internet': [
    'https://localhost/ https://LOCALHOST./ https://db.localhost/',
  ],
}

describe('inspectUrl', () => {
  it.each([
    ...Object.entries(VERDICTS).flatMap(([verdict, lines]) =>
      lines.flatMap(words).map((url) => [url, verdict]),
    ),
    ...[
      '',
      'https://a b/',
      ' https://a.example',
      String.raw`https://\a.example`,
      'https://a.example\n',
      'https://a\u200B.example',
    ].map((url) => [url, 'must be a full URL']),
  ])('says of %j: %s', (url, verdict) => {
    expect(reasonOf(url)).toBe(verdict)
  })

  it.each([
    [
      'https://merchant.example:8443/hooks',
      'must use port 443, the only port that webhooks may use',
    ],
    ['https://merchant.example:443/hooks', 'allowed'],
    ['https://merchant.example/hooks', 'allowed'],
  ])('says of %s where webhooks may only use port 443: %s', (url, verdict) => {
    expect(reasonOf(url, { ...DEPLOYED, httpsPortOnly: true })).toBe(verdict)
  })

  const loopback = [
    'http://127.0.0.1:3003/hooks https://127.0.0.1:3003/hooks http://localhost:3003/hooks ' +
      'https://localhost/hooks',
    'http://[::1]:3003/hooks http://0x7f.1/',
  ]

  const others = [
    'http://merchant.example/ http://127.0.0.2/ https://127.0.0.2/ https://10.0.0.1/ ' +
      'https://[::ffff:7f00:1]/',
    'http://user@127.0.0.1/ http://localhost.example/ http://foo.localhost/ https://foo.localhost/',
  ]

  it.each([
    ...loopback.flatMap(words).map((url) => [true, url] as const),
    ...others.flatMap(words).map((url) => [false, url] as const),
  ])('allows only loopback, and only in stage local (%s): %s', (allowed, url) => {
    expect(reasonOf(url, LOCAL) === 'allowed').toBe(allowed)
    expect(reasonOf(url, DEPLOYED)).not.toBe('allowed')
  })
})

describe('inspectAddresses', () => {
  const [LOCALHOST, MERCHANT] = ['https://localhost/', 'https://merchant.example/']
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]

  it.each([
    [
      'localhost in stage local, without a resolver',
      addresses,
      LOCALHOST,
      LOCAL,
      resolvesToNothing,
    ],
    ['localhost when deployed', 'address_refused', LOCALHOST, DEPLOYED, resolvesTo('127.0.0.1')],
    [
      'another name for loopback, in stage local too',
      'address_refused',
      MERCHANT,
      LOCAL,
      resolvesTo('127.0.0.1'),
    ],
    [
      'a special address among public ones',
      'address_refused',
      MERCHANT,
      DEPLOYED,
      resolvesTo('8.8.8.8', '10.0.0.1'),
    ],
    [
      'a special IPv6 address',
      'address_refused',
      MERCHANT,
      DEPLOYED,
      resolvesTo('2606:4700::1', '::ffff:8.8.8.8'),
    ],
  ])('says of %s: %j', async (_, found, url, rules, resolve) => {
    expect(await inspectAddresses(new URL(url), rules, resolve)).toStrictEqual(found)
  })

  it('accepts at registration a name that does not resolve yet', async () => {
    await expect(requireSafeUrl(MERCHANT, DEPLOYED, resolvesToNothing)).resolves.toBe(
      new URL(MERCHANT).href,
    )
  })
})

const PUBLIC = [
  '8.8.8.8 1.1.1.1 93.184.216.34 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0',
  '192.0.1.0 198.17.255.255 198.20.0.0 223.255.255.255',
  '2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450:4001:81b::200e 2001:200::1 3ffe::1',
]

/**
 * An address of each range, and texts that are no plain address. The lists of safe-url.ts say what
 * each range is for.
 */
const SPECIAL = [
  '0.0.0.0 0.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 ' +
    '127.0.0.1',
  '127.255.255.254 169.254.1.1 169.254.169.254 169.254.170.2 192.0.0.8 192.0.2.1 198.51.100.1 ' +
    '203.0.113.1',
  '192.88.99.1 198.18.0.1 198.19.255.255 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255',
  '::1 fe80::1 fd00:ec2::254 2001:db8::1 3fff:abc::1 2002:a00:1::1 2001:2::1 ff02::1 :: ::7f00:1',
  '::ffff:10.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8 ::ffff:0:7f00:1 64:ff9b::a00:1 64:ff9b:1::1 ' +
    '100::1 2001::1',
  '2001:20::1 5f00::1 fc00::1 fec0::1',
  'fe80::1%eth0 2606:4700::1%1 localhost 0x7f.1 2130706433',
]

it.each([
  ...PUBLIC.flatMap(words).map((address) => [address, true] as const),
  ...['', ...SPECIAL.flatMap(words)].map((address) => [address, false] as const),
])('isPublicAddress: a webhook may go to "%s": %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic)
})
