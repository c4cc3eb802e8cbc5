import { describe, expect, it } from 'vitest'
import { foundKey, PARTITIONS, pkPrefix } from '../../shared/table/keys.ts'

describe('kinds of partitions', () => {
  it('cannot be taken for one another: no prefix begins with another', () => {
    const clashes = PARTITIONS.flatMap((one) =>
      PARTITIONS.filter((other) => other !== one && pkPrefix(one).startsWith(pkPrefix(other))),
    )

    expect(clashes).toStrictEqual([])
  })
})

describe('foundKey', () => {
  it('takes the key out of what an index brought', () => {
    const row = { pk: 'PAYMENT#1', sk: 'PAYMENT', id: '1', owner: 'c' }

    expect(foundKey('PAYMENT', row)).toStrictEqual({ pk: 'PAYMENT#1', sk: 'PAYMENT' })
  })

  it.each([
    { pk: 'CLIENT#1', sk: 'CLIENT' },
    { pk: 'PAYMENTS#1', sk: 'PAYMENT' },
    { pk: 'PAYMENT#1' },
    { sk: 'PAYMENT' },
    {},
  ])('refuses %j where a payment is looked for', (row) => {
    expect(() => foundKey('PAYMENT', row)).toThrow('not of PAYMENT')
  })
})
