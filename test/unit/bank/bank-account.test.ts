import { describe, expect, it } from 'vitest'
import { accountDigits, findBank } from '../../../shared/bank/bank-account.ts'
import { BANKS } from '../../../shared/bank/banks.ts'

describe('banks as data (design section 15)', () => {
  it('has at least 25 banks, each with its own code, number and channel', () => {
    const fields = [
      BANKS.map(({ code }) => code),
      BANKS.map(({ number }) => number),
      BANKS.map(({ channel }) => channel),
    ]

    expect(BANKS.length).toBeGreaterThanOrEqual(25)
    for (const field of fields) expect(new Set(field).size).toBe(BANKS.length)
  })

  it('has the lengths of account numbers that are known for certain', () => {
    const known = BANKS.flatMap(({ code, digits }) => (digits ? [`${code} ${digits.join()}`] : []))

    const lengths = ['BCA 10', 'MANDIRI 13', 'BRI 15', 'BNI 7,8,9,10,11', 'BTN 16', 'BSI 10']
    expect(known).toStrictEqual(lengths)
  })

  it('finds one bank by each name', () => {
    const all = BANKS.flatMap(({ code, names }) => [code, ...names].map((name) => [name, code]))

    expect(all.map(([name = '']) => [name, findBank(name)?.code])).toStrictEqual(all)
  })

  it.each<readonly [string, string | undefined]>([
    ...['bca', 'Bank Central Asia', 'BANK BCA (014)', 'PT Bank Central Asia Tbk.', 'BCA-014'].map(
      (name) => [name, 'BCA'] as const,
    ),
    ['BCA Syariah', 'BCA_SYARIAH'],
    ['Bank BCA (009)', undefined],
    ['Bank of Nowhere', undefined],
    ['014', undefined],
    ['', undefined],
  ])('reads %j as %s', (name, code) => {
    expect(findBank(name)?.code).toBe(code)
  })
})

// Public reports: gumroad #6625, StellarBank #36.
describe('accountDigits (design section 15)', () => {
  it.each<readonly [string, string | undefined]>([
    ['012345', '012345'],
    ['0012345678', '0012345678'],
    ['001-234 567.8', '0012345678'],
    ['070 – 00 – 0123456–7', '0700001234567'],
    ['12345678901234567890', '12345678901234567890'],
    ...['1.23457E+15', 'O012345678', '#REF!', '0000000000', '12345', '0012345678.0'].map(
      (text) => [text, undefined] as const,
    ),
    ...[
      '12345678,00',
      `${'0'.repeat(20)}1`,
      '',
      '-0012345678',
      '００１２３４５６７８',
      "'0012345678",
    ].map((text) => [text, undefined] as const),
  ])('reads %j as %s', (text, digits) => {
    expect(accountDigits(text)).toBe(digits)
  })
})
