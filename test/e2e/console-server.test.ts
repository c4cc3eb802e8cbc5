import { describe, expect } from 'vitest'
import { DESCRIPTION } from '../support/described-answers.ts'
import { ownWorldIt as it, sendAsBrowser, type World } from './gateway-world.ts'

function send({ urls }: World, path: string, sent?: Parameters<typeof sendAsBrowser>[1]) {
  return sendAsBrowser(urls.api + path, sent)
}

const JSON_TYPE = { 'content-type': 'application/json' }
const LOOK = { port: 'lambda', method: 'GET', path: '/_local/clock' }
function relay(world: World, body: unknown, headers: Record<string, string> = JSON_TYPE) {
  return send(world, '/console/call', { method: 'POST', headers, body })
}

describe('the console’s server', () => {
  it('serves a page that may load nothing but its own files', async ({ world }) => {
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

  it.for([
    ['another host in the path', { ...LOOK, path: '//evil.example/' }],
    ['a fifth port', { ...LOOK, port: 'table' }],
    ['another method', { ...LOOK, method: 'PUT' }],
    ['headers of its own', { ...LOOK, headers: { host: 'evil.example' } }],
  ] as const)('makes no call that names %s', async ([, call], { world }) => {
    expect((await relay(world, call)).status).toBe(400)
  })

  // Another host or origin: local-gateway.test.ts.
  it('does nothing for a page of another site or port', async ({ world }) => {
    const refused = async (headers: Record<string, string>) => [
      (await relay(world, LOOK, { ...JSON_TYPE, ...headers })).status,
      (await send(world, '/console/about', { headers })).status,
      (await send(world, '/console/activity', { headers })).status,
    ]

    for (const site of ['cross-site', 'same-site']) {
      expect(await refused({ 'sec-fetch-site': site })).toStrictEqual([403, 403, 403])
    }
    // What a form can send without asking first.
    expect((await relay(world, LOOK, { 'content-type': 'text/plain' })).status).toBe(415)
  })

  it('may be linked to, and not embedded', async ({ world }) => {
    const from = (mode: string) => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode })

    expect((await send(world, '/console', { headers: from('navigate') })).status).toBe(200)
    expect((await send(world, '/console', { headers: from('no-cors') })).status).toBe(403)
    expect((await send(world, '/console/about', { headers: from('navigate') })).status).toBe(403)
  })
})

describe('the description of the API', () => {
  it('is served at /openapi.json, with the address of this gateway', async ({ world }) => {
    const { status, body } = await world.send(`${world.urls.api}/openapi.json`)

    const servers = [{ url: world.urls.api, description: 'This gateway' }]
    expect([status, body]).toStrictEqual([200, { ...DESCRIPTION, servers }])
  })

  it('is shown at /docs by a page that loads nothing from elsewhere', async ({
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
