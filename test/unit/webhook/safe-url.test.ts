import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../../shared/errors.ts'
import type { ResolveHost } from '../../../shared/resolve-host.ts'
import { assertSafeUrl, inspectAddresses, inspectUrl } from '../../../shared/webhook/endpoint/safe-url.ts'

const DEPLOYED = { allowLoopback: false }
const LOCAL = { allowLoopback: true }

const resolvesTo =
  (...addresses: readonly string[]): ResolveHost =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const resolvesToNothing: ResolveHost = async () => Promise.reject(new Error('queryA ENOTFOUND'))

const reasonOf = (text: string, rules = DEPLOYED) => {
  const verdict = inspectUrl(text, rules)
  return verdict.allowed ? 'allowed' : verdict.reason
}

const words = (line: string) => line.split(' ')

/** URLs by what is said of them when deployed. */
const VERDICTS: Readonly<Record<string, readonly string[]>> = {
  allowed: [
    'https://merchant.example https://merchant.example/hooks?shop=1#part https://merchant.example:8443/hooks',
    'https://sub.merchant.co.id/a/b/c https://xn--mnchen-3ya.example/ https://münchen.example/ https://constructor/',
  ],
  'must be a full URL': ['merchant.example /hooks https:// https:///'],
  'must be an https URL': [
    'http://merchant.example/ ftp://merchant.example/ file:///etc/passwd javascript:alert(1) data:text/plain,x',
  ],
  'must not carry user info': [
    'https://user@merchant.example/ https://user:pass@merchant.example/ https://:pass@merchant.example/',
  ],
  // An address in any spelling.
  'must name a host, not an address': [
    'https://127.0.0.1/ https://127.1/ https://0x7f.1/ https://0x7f000001/ https://2130706433/ https://017700000001/',
    'https://127.0.0.1./ https://１２７.0.0.1/ https://0/ https://8.8.8.8/ https://169.254.169.254/latest/meta-data/',
    'https://[::1]/ https://[::]/ https://[0:0:0:0:0:0:0:1]/ https://[::ffff:7f00:1]/ https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/ https://[fd00:ec2::254]/ https://[2606:4700:4700::1111]/',
  ],
  'must name a host on the public internet': ['https://localhost/ https://LOCALHOST./ https://db.localhost/'],
}

describe('inspectUrl', () => {
  it.each([
    ...Object.entries(VERDICTS).flatMap(([verdict, lines]) =>
      lines.flatMap(words).map((url) => [url, verdict] as const),
    ),
    ...['', 'https://a b/', ' https://a.example', 'https://a.example\n'].map(
      (url) => [url, 'must be a full URL'] as const,
    ),
  ])('of %j: %s', (url, verdict) => {
    expect(reasonOf(url)).toBe(verdict)
  })

  const loopback = [
    'http://127.0.0.1:3003/hooks https://127.0.0.1:3003/hooks http://localhost:3003/hooks https://localhost/hooks',
    'http://[::1]:3003/hooks http://0x7f.1/',
  ]

  it.each(loopback.flatMap(words))('allows loopback in stage local only: %s', (url) => {
    expect(reasonOf(url, LOCAL)).toBe('allowed')
    expect(reasonOf(url, DEPLOYED)).not.toBe('allowed')
  })

  const others = [
    'http://merchant.example/ http://127.0.0.2/ https://127.0.0.2/ https://10.0.0.1/ https://[::ffff:7f00:1]/',
    'http://user@127.0.0.1/ http://localhost.example/ http://foo.localhost/ https://foo.localhost/',
  ]

  it.each(others.flatMap(words))('keeps every other rule in stage local: %s', (url) => {
    expect(reasonOf(url, LOCAL)).not.toBe('allowed')
  })
})

describe('inspectAddresses', () => {
  const localhost = new URL('https://localhost/')

  it('takes localhost for loopback in stage local, without asking anybody', async () => {
    expect(await inspectAddresses(localhost, LOCAL, resolvesToNothing)).toStrictEqual({
      kind: 'allowed',
      addresses: [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ],
    })
  })

  it('knows no loopback when deployed', async () => {
    expect(await inspectAddresses(localhost, DEPLOYED, resolvesTo('127.0.0.1'))).toStrictEqual({ kind: 'refused' })
  })
})

describe('assertSafeUrl (at registration)', () => {
  const MERCHANT = 'https://merchant.example/'
  const refusalOf = async (url: string, resolve: ResolveHost, rules = DEPLOYED) => {
    try {
      await assertSafeUrl(url, rules, resolve)
      return undefined
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      const { code, fieldErrors, actionHint } = error
      return { code, fieldErrors, actionHint }
    }
  }

  it('accepts a name that leads to public addresses, and one that does not resolve yet', async () => {
    expect(await refusalOf(MERCHANT, resolvesTo('8.8.8.8', '2606:4700::1'))).toBeUndefined()
    expect(await refusalOf(MERCHANT, resolvesToNothing)).toBeUndefined()
  })

  it('refuses a URL with a reason and a hint', async () => {
    expect(await refusalOf('http://merchant.example/', resolvesTo('8.8.8.8'))).toStrictEqual({
      code: 'validation',
      fieldErrors: { url: ['must be an https URL'] },
      actionHint: 'Give the full https URL of a host on the public internet.',
    })
  })

  it.each([['10.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['2606:4700::1', '::1'], ['8.8.8.8', '::ffff:8.8.8.8']])(
    'refuses a name with a special address among its own: %s',
    async (...addresses) => {
      expect(await refusalOf(MERCHANT, resolvesTo(...addresses))).toMatchObject({
        code: 'validation',
        fieldErrors: { url: ['resolves to a private or special address'] },
      })
    },
  )

  it('refuses a name that leads to loopback in stage local too, since only three hosts count as loopback', async () => {
    expect(await refusalOf(MERCHANT, resolvesTo('127.0.0.1'), LOCAL)).toMatchObject({ code: 'validation' })
    expect(await refusalOf('http://localhost:3003/', resolvesToNothing, LOCAL)).toBeUndefined()
  })
})
