import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attributeName, fieldName, fromItem, toItem } from '../../shared/table/attributes.ts'
import { itHoldsFor } from './it-holds-for.ts'

describe('the spelling rule between code and table', () => {
  // Two fields are never spelled alike, because each spelling leads back to its field.
  itHoldsFor(fc.stringMatching(/^[a-z]+([A-Z][a-z0-9]*)*$/))('spells any field in snake_case, and back', (field) => {
    expect(attributeName(field)).toMatch(/^[a-z]+(_[a-z0-9]+)*$/)
    expect(fieldName(attributeName(field))).toBe(field)
  })
})

// That they undo each other and leave out what is undefined: `dynamodb-table.test.ts`, and every store.
it('toItem and fromItem spell the top level alone', () => {
  expect(toItem({ bankDetails: { bankName: 'BCA' } })).toStrictEqual({ bank_details: { bankName: 'BCA' } })
  expect(fromItem({ bank_details: { bank_name: 'BCA' } })).toStrictEqual({ bankDetails: { bank_name: 'BCA' } })
})
