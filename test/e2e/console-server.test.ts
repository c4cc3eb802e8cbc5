import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { DESCRIPTION } from '../support/described-answers.ts'
import { ownWorldIt as it, sendAsBrowser, type World } from './gateway-world.ts'

function send({ urls }: World, path: string, options?: Parameters<typeof sendAsBrowser>[1]) {
  return sendAsBrowser(urls.api + path, options)
}

const JSON_TYPE = { 'content-type': 'application/json' }
const CLOCK_CALL = { port: 'lambda', method: 'GET', path: '/_local/clock' }
function relay(world: World, body: unknown, headers: Record<string, string> = JSON_TYPE) {
  return send(world, '/console/call', { method: 'POST', headers, body })
}

describe('the console’s server', () => {
  it('serves a page that may load only files of this server', async ({ world }) => {
    for (const path of ['', '/page.js', '/page.css', '/icon.svg']) {
      const { status, headers } = await send(world, `/console${path}`)
      expect([path, status]).toStrictEqual([path, 200])
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/,
      )
      expect(headers['content-security-policy']).not.toContain('unsafe')
    }
    expect((await send(world, '/console/../main.ts')).status).not.toBe(200)
    expect((await send(world, '/console/main.tsx')).status).toBe(404)
  })

  it('serves a page of at most 250 KB, compressed', async ({ world }) => {
    const files = ['', '/page.js', '/page.css', '/icon.svg']
    const sizes = await Promise.all(
      files.map(async (path) => gzipSync((await send(world, `/console${path}`)).body).length),
    )

    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(250_000)
  })

  it.for([
    ['another host in the path', { ...CLOCK_CALL, path: '//evil.example/' }],
    ['a fifth port', { ...CLOCK_CALL, port: 'table' }],
    ['another method', { ...CLOCK_CALL, method: 'PUT' }],
    ['headers', { ...CLOCK_CALL, headers: { host: 'evil.example' } }],
  ])('makes no call that names %s', async ([, call], { world }) => {
    expect((await relay(world, call)).status).toBe(400)
  })

  it('does nothing for a page of another site or port', async ({ world }) => {
    const statusesFor = async (headers: Record<string, string>) => [
      (await relay(world, CLOCK_CALL, { ...JSON_TYPE, ...headers })).status,
      (await send(world, '/console/about', { headers })).status,
      (await send(world, '/console/activity', { headers })).status,
    ]

    for (const site of ['cross-site', 'same-site']) {
      expect(await statusesFor({ 'sec-fetch-site': site })).toStrictEqual([403, 403, 403])
    }
    // A form can send this type without a CORS preflight.
    expect((await relay(world, CLOCK_CALL, { 'content-type': 'text/plain' })).status).toBe(415)
  })

  it('may be linked, but not embedded', async ({ world }) => {
    const crossSite = (mode: string) => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode })

    expect((await send(world, '/console', { headers: crossSite('navigate') })).status).toBe(200)
    expect((await send(world, '/console', { headers: crossSite('no-cors') })).status).toBe(403)
    expect((await send(world, '/console/about', { headers: crossSite('navigate') })).status).toBe(
      403,
    )
  })
})

describe('the description of the API', () => {
  it('is served at /openapi.json, with the address of this gateway', async ({ world }) => {
    const { status, body } = await world.send(`${world.urls.api}/openapi.json`)

    const servers = [{ url: world.urls.api, description: 'This gateway' }]
    expect([status, body]).toStrictEqual([200, { ...DESCRIPTION, servers }])
  })

  it('is shown at /docs by a page that loads nothing from other servers', async ({
    world: { urls },
  }) => {
    const page = await fetch(`${urls.api}/docs`)
    const html = await page.text()
    const sources = [...html.matchAll(/(?:src|href|spec-url)="([^"]+)"/g)].map(
      ([, source = '']) => source,
    )
    const script = await fetch(`${urls.api}/docs/redoc.standalone.js`)

    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self';/,
    )
    expect(sources).toStrictEqual(['data:,', '/openapi.json', '/docs/redoc.standalone.js'])
    expect([script.status, (await script.text()).includes('cdn.redoc.ly')]).toStrictEqual([
      200,
      false,
    ])
  })
})
