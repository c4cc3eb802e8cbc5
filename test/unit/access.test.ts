import { expect, it } from 'vitest'
import { allAccess } from '../../shared/table/access.ts'

it('an access of several parts names each kind and index once, and no action that none of them has', () => {
  const parts = [{ GetItem: ['PAYMENT'] }, { GetItem: ['CLIENT', 'PAYMENT'], indexes: ['by-due', 'by-due'] }] as const

  expect(allAccess(...parts)).toStrictEqual({ GetItem: ['CLIENT', 'PAYMENT'], indexes: ['by-due'] })
  expect(allAccess({ Query: ['LEDGER'] })).toStrictEqual({ Query: ['LEDGER'] })
})
