import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { API_DOCUMENT, apiDocument } from '../../infra/local/openapi/api-document.ts'
import { machineWith } from '../support/temp-directory.ts'

it('the description of the API says what the local gateway answers today; otherwise: npm run openapi -- --write', async () => {
  // Without Java, the table is in memory: the answers are the same.
  machineWith({})

  expect(await apiDocument()).toBe(readFileSync(API_DOCUMENT, 'utf8'))
})
