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

const resolvesToNothing: ResolveHost = async () => {
  throw new Error('queryA ENOTFOUND')
}

const reasonOf = (text: string, rules = DEPLOYED) => {
  const verdict = inspectUrl(text, rules)
  return verdict.allowed ? 'allowed' : verdict.reason
}

describe('inspectUrl', () => {
  it.each([
    'https://merchant.example',
    'https://merchant.example/hooks?shop=1#part',
    'https://merchant.example:8443/hooks',
    'https://sub.merchant.co.id/a/b/c',
    'https://xn--mnchen-3ya.example/',
    'https://münchen.example/',
    'https://constructor/',
  ])('allows %s', (url) => {
    expect(reasonOf(url)).toBe('allowed')
  })

  it.each([
    '',
    'merchant.example',
    '/hooks',
    'https://',
    'https:///',
    'https://a b/',
    ' https://a.example',
    'https://a.example\n',
  ])('refuses what is no full URL: %j', (url) => {
    expect(reasonOf(url)).toBe('must be a full URL')
  })

  it.each([
    'http://merchant.example/',
    'ftp://merchant.example/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/plain,x',
  ])('refuses another scheme: %s', (url) => {
    expect(reasonOf(url)).toBe('must be an https URL')
  })

  it.each(['https://user@merchant.example/', 'https://user:pass@merchant.example/', 'https://:pass@merchant.example/'])(
    'refuses user info: %s',
    (url) => {
      expect(reasonOf(url)).toBe('must not carry user info')
    },
  )

  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://017700000001/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://0/',
    'https://8.8.8.8/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fd00:ec2::254]/',
    'https://[2606:4700:4700::1111]/',
  ])('refuses an address in any spelling: %s', (url) => {
    expect(reasonOf(url)).toBe('must name a host, not an address')
  })

  it.each([
    'http://127.0.0.1:3003/hooks',
    'https://127.0.0.1:3003/hooks',
    'http://localhost:3003/hooks',
    'https://localhost/hooks',
    'http://[::1]:3003/hooks',
    'http://0x7f.1/',
  ])('allows loopback in stage local only: %s', (url) => {
    expect(reasonOf(url, LOCAL)).toBe('allowed')
    expect(reasonOf(url, DEPLOYED)).not.toBe('allowed')
  })

  it.each(['https://localhost/', 'https://LOCALHOST./', 'https://db.localhost/'])(
    'refuses a name of loopback: %s',
    (url) => {
      expect(reasonOf(url)).toBe('must name a host on the public internet')
    },
  )

  it.each([
    'http://merchant.example/',
    'http://127.0.0.2/',
    'https://127.0.0.2/',
    'https://10.0.0.1/',
    'https://[::ffff:7f00:1]/',
    'http://user@127.0.0.1/',
    'http://localhost.example/',
    'http://foo.localhost/',
    'https://foo.localhost/',
  ])('keeps every other rule in stage local: %s', (url) => {
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
  const refusalOf = async (url: string, resolve: ResolveHost, rules = DEPLOYED) => {
    try {
      await assertSafeUrl(url, rules, resolve)
      return undefined
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      return { code: error.code, fieldErrors: error.fieldErrors, actionHint: error.actionHint }
    }
  }

  it('accepts a name that leads to public addresses', async () => {
    expect(await refusalOf('https://merchant.example/', resolvesTo('8.8.8.8', '2606:4700::1'))).toBeUndefined()
  })

  it('accepts a name that does not resolve yet', async () => {
    expect(await refusalOf('https://soon.merchant.example/', resolvesToNothing)).toBeUndefined()
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
      expect(await refusalOf('https://merchant.example/', resolvesTo(...addresses))).toMatchObject({
        code: 'validation',
        fieldErrors: { url: ['resolves to a private or special address'] },
      })
    },
  )

  it('refuses a name that leads to loopback in stage local too, since only three hosts count as loopback', async () => {
    expect(await refusalOf('https://merchant.example/', resolvesTo('127.0.0.1'), LOCAL)).toMatchObject({
      code: 'validation',
    })
    expect(await refusalOf('http://localhost:3003/', resolvesToNothing, LOCAL)).toBeUndefined()
  })
})
