/** Goal: a file that does not say for certain what was paid pays nothing. */
import { describe, expect, it } from 'vitest'
import { aBatch, ownRows, providerRows, text, xlsx } from '../../support/answer-files.ts'

const KNOWN = 'Reference,Amount,Account Number,Transaction ID\n'

describe('payout-answer --file, in doubt (design section 15)', () => {
  it.each([
    [0, 'it has no status'],
    [6, 'the line has no bank reference'],
  ])('pays no line of the provider without its cell %i: %s', async (cell, reason) => {
    const batch = await aBatch()
    const [head = [], payment = [], ...lines] = providerRows(batch)

    const { code, err } = await batch.answer(
      text([head, payment, ...lines.map((row) => row.with(cell, ''))]),
    )

    expect([code, err]).toStrictEqual([1, expect.stringContaining(`refused: ${reason}`)])
    expect(await batch.states()).toStrictEqual([
      ['recorded', null],
      ['recorded', null],
    ])
  })

  it.each([
    ['was sent again', { status: 'ACCEPTED' }],
    ['has another type too', { type: 'TRANSFER' }],
  ])('refuses every line of a settlement that failed and %s', async (_, change) => {
    const batch = await aBatch()
    const [head = [], ...lines] = ownRows(batch, { status: 'FAILED', bank_reference: '', type: '' })
    const again = ownRows(batch, { type: '', ...change }).slice(1, 2)

    const { code, out, err } = await batch.answer(text([[...head, 'type'], ...lines, ...again]))

    expect([code, out]).toStrictEqual([1, expect.stringContaining('0 done, 1 failed, 2 refused')])
    expect(err).toContain('its settlement is on the lines 2, 4')
    expect((await batch.states()).map(([status]) => status)).toStrictEqual(['recorded', 'failed'])
  })

  it('refuses numbers of xlsx that have more digits than a spreadsheet keeps', async () => {
    const batch = await aBatch()
    const [head = [], first = [], second = []] = ownRows(batch)
    const rows = [
      [...first].with(4, '20261120000000001'),
      [...second].with(4, '202611200000001'),
    ].map((row) => row.map((cell, at) => (at === 4 ? Number(cell) : cell)))

    const { code, err } = await batch.answer(await xlsx([head, ...rows]))

    expect([code, err]).toStrictEqual([
      1,
      expect.stringMatching(/^line 2 .* the reference 2\.026112e\+16 was shortened/),
    ])
    expect(await batch.states()).toStrictEqual([
      ['recorded', null],
      ['manual_paid', '202611200000001'],
    ])
  })

  it('ends with 1 for a file without a line of a payout', async () => {
    const batch = await aBatch()
    const [head = [], payment = []] = providerRows(batch)

    expect(await batch.answer(text([head, payment]))).toMatchObject({
      code: 1,
      out: '0 done, 0 failed, 0 refused\nlines of the type PAYMENT passed over: 1',
      err: expect.stringContaining('has no line of a payout'),
    })
  })

  it.each([
    ['nothing that we know', 'a;b\n1;2\n', 'has no line with the columns'],
    ['lines of another table', `${'a,b\n'.repeat(30)}${KNOWN}`, 'has no line with the columns'],
    ['no status', KNOWN, 'has no column status'],
    ['our ids, and no status', 'settlement_id,amount,rekening,ref no\n', 'has no column status'],
    ['a misplaced quote', '"a\n', 'is no CSV: a quote is misplaced'],
    ['a broken xlsx', 'PK but no archive', 'is no xlsx file that can be read'],
    ['another encoding', new Uint8Array([0x61, 0xff, 0x62]), 'neither xlsx nor a text in UTF-8'],
  ])('refuses a file with %s as a whole', async (_, content, message) => {
    const batch = await aBatch()

    const { code, err } = await batch.answer(content)

    expect([code, err]).toStrictEqual([2, expect.stringContaining(message)])
  })
})
