import { readFileSync } from 'node:fs'
import { describe, expect, vi } from 'vitest'
import { API_DOCUMENT, apiDocument } from '../../infra/local/openapi/api-document.ts'
import { DESCRIPTION } from '../support/described-answers.ts'
import { worldIt as it } from './gateway-world.ts'

// A recording takes 20 seconds of a machine that has nothing else to do.
vi.setConfig({ testTimeout: 240_000 })

describe('the description of the API', () => {
  it('says what the local gateway answers today; otherwise: npm run openapi -- --write', async () => {
    expect(await apiDocument()).toBe(readFileSync(API_DOCUMENT, 'utf8'))
  })

  it('is served at /openapi.json, with the address of this gateway', async ({ world: { send, urls } }) => {
    const { status, body } = await send(`${urls.api}/openapi.json`)

    const servers = [{ url: urls.api, description: 'This gateway' }]
    expect([status, body]).toStrictEqual([200, { ...DESCRIPTION, servers }])
  })

  it('is shown at /docs by a page that loads nothing from elsewhere', async ({ world: { urls } }) => {
    const page = await fetch(`${urls.api}/docs`)
    const html = await page.text()
    const sources = [...html.matchAll(/(?:src|href|spec-url)="([^"]+)"/g)].map(([, source = '']) => source)
    const script = await fetch(`${urls.api}/docs/redoc.standalone.js`)

    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(sources).toStrictEqual(['data:,', '/openapi.json', '/docs/redoc.standalone.js'])
    expect([script.status, (await script.text()).includes('cdn.redoc.ly')]).toStrictEqual([200, false])
  })
})
