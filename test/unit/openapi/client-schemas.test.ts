import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  API_DOCUMENT,
  CLIENT_SCHEMAS,
  clientSchemas,
  schemasAsTypescript,
} from '../../../infra/local/openapi/api-document.ts'

describe('the types of the client in docs/examples', () => {
  it('are those of the description; otherwise: npm run openapi -- --write', () => {
    expect(readFileSync(CLIENT_SCHEMAS, 'utf8')).toBe(clientSchemas(readFileSync(API_DOCUMENT, 'utf8')))
  })

  it('refuses a kind of schema it does not know', () => {
    expect(() => schemasAsTypescript({ A: { type: 'tuple' } })).toThrow('no type for {"type":"tuple"}')
  })
})
