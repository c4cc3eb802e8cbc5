import { readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { API_DOCUMENT, apiDocument } from '../../infra/local/openapi/api-document.ts'

// A recording takes 20 seconds on an idle machine.
vi.setConfig({ testTimeout: 240_000 })

it('the description of the API says what the local gateway answers today; otherwise: npm run openapi -- --write', async () => {
  expect(await apiDocument()).toBe(readFileSync(API_DOCUMENT, 'utf8'))
})
