import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  API_DOCUMENT,
  CLIENT_SCHEMAS,
  clientSchemas,
  type Schema,
  schemasAsTypescript,
} from '../../../infra/local/openapi/api-document.ts'

describe('the types of the client in docs/examples', () => {
  it('are those of the description; otherwise: npm run openapi -- --write', () => {
    expect(readFileSync(CLIENT_SCHEMAS, 'utf8')).toBe(clientSchemas(readFileSync(API_DOCUMENT, 'utf8')))
  })

  it.each<[Schema, string]>([
    [{ $ref: '#/components/schemas/Payment' }, 'Payment'],
    [{ enum: ['a', 1, null] }, `'a' | 1 | null`],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ oneOf: [{ type: 'boolean' }, { $ref: '#/A' }] }, 'boolean | A'],
    [{ allOf: [{ $ref: '#/A' }, { $ref: '#/B' }] }, 'A & B'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, `readonly ('a' | 'b')[]`],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'Readonly<Record<string, string>>'],
    [{}, 'unknown'],
  ])('%j is %s', (schema, type) => {
    expect(schemasAsTypescript({ A: schema }).trimEnd().split('\n').at(-1)).toBe(`export type A = ${type}`)
  })

  it('has optional fields and what is said of each, at any depth', () => {
    const inner: Schema = { type: 'object', properties: { b: { type: 'integer', description: 'Deep. */' } } }
    const schema: Schema = { type: 'object', description: 'Outer.', required: ['a'], properties: { a: inner } }

    expect(schemasAsTypescript({ A: schema })).toContain(
      `/** Outer. */\nexport type A = {\n  readonly a: {\n    /** Deep. *\\/ */\n    readonly b?: number\n  }\n}\n`,
    )
  })

  it('refuses a kind of schema it does not know', () => {
    expect(() => schemasAsTypescript({ A: { type: 'tuple' } })).toThrow('no type for {"type":"tuple"}')
  })
})
