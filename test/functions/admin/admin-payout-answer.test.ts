/**
 * Goal: whatever comes back from a bank is read, or refused by line with a clear word, and nothing
 * is paid twice.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSheet } from 'read-excel-file/node'
import { describe, expect, test } from 'vitest'
import { findAnySettlement } from '../../../shared/settlement/settlement-store.ts'
import { cli } from '../../support/admin-command.ts'
import {
  aBatch,
  type Batch,
  bankRows,
  OWN_HEAD,
  ownRows,
  providerRows,
  served,
  text,
  utf16,
  xlsx,
} from '../../support/answer-files.ts'
import { aWaitingSettlement, cancelFile } from '../../support/batch-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { BANK } from '../../support/settlement-builders.ts'
import { tempDirectory } from '../../support/temp-directory.ts'
import { memoryDeps } from '../../support/test-deps.ts'

const it = test.extend('batch', () => aBatch())

describe('payout-answer --file (design section 15)', () => {
  // Public reports: markdown-exporter #73, ui-grid #3135, easy-digital-downloads #3166.
  it('reads the file of payout-file back with every digit, as text', async () => {
    const accounts = ['0012345678', '001234567890123', '12345678901234567']
    const banks = ['BCA', 'BRI', 'CIMB']
    const deps = memoryDeps()
    for (const [at, bankAccountNo] of accounts.entries())
      await aWaitingSettlement(deps, {
        bank: { ...BANK, bankName: banks[at] ?? '', bankAccountNo },
      })
    const tool = await cli(served(deps), { GATEWAY_OPERATOR: 'sari' })
    const folder = tempDirectory()

    const { code, out } = await tool.run('payout-file', '--out', folder)

    expect([code, out]).toStrictEqual([
      0,
      expect.stringMatching(
        /^Batch 1: ready, 3 payouts, 287700 IDR, digest [0-9a-f]{64}\nWritten: /,
      ),
    ])
    const rows = await readSheet(readFileSync(join(folder, 'payout-0001.xlsx')))
    expect(rows.slice(1).map((row) => row[7])).toStrictEqual(accounts)
    await tool.run('payout-file', '--batch', '1', '--format', 'provider', '--out', folder)
    const template = await readSheet(readFileSync(join(folder, 'payout-0001-provider.xlsx')))
    expect(template.slice(1).map((row) => [row[1], row[4]])).toStrictEqual(
      accounts.map((account) => [95_900, account]),
    )
    // A person may have filled it in.
    expect(await tool.run('payout-file', '--batch', '1', '--out', folder)).toMatchObject({
      code: 2,
    })
  })

  // Public reports: ImportPagesCSV #9, Cloudlog #2689.
  it.each<[string, (batch: Batch) => string | Uint8Array | Promise<Uint8Array>, string?]>([
    ['CSV with commas', (batch) => text(ownRows(batch))],
    ['tabs', (batch) => text(ownRows(batch), '\t')],
    ['a first line that names the separator', (batch) => `sep=;\r\n${text(ownRows(batch), ';')}`],
    ['a mark of UTF-8', (batch) => `\ufeff${text(ownRows(batch))}`],
    ['UTF-16', (batch) => utf16(text(ownRows(batch), '\t'), 'le')],
    ['UTF-16 of the other order', (batch) => utf16(text(ownRows(batch)), 'be')],
    ['UTF-16 without a mark', (batch) => utf16(text(ownRows(batch)), 'le', '')],
    ['xlsx', (batch) => xlsx(ownRows(batch))],
    [
      'xlsx with amounts as numbers',
      (batch) =>
        xlsx(
          ownRows(batch).map((row, at) =>
            row.map((cell, n) => (at > 0 && n === 1 ? Number(cell) : cell)),
          ),
        ),
    ],
    ['the report of the provider', (batch) => text(providerRows(batch))],
    [
      'the columns of a bank, with a title, totals and marks of text',
      (batch) => text(bankRows(batch), ';'),
    ],
    ['no status, but a reference', (batch) => text(ownRows(batch, { status: '' }))],
  ])('reads %s', async (_, contentOf) => {
    const batch = await aBatch()

    const result = await batch.answer(await contentOf(batch))

    expect(result).toMatchObject({ code: 0, err: '' })
    expect(result.out).toContain('2 done, 0 failed, 0 refused')
    expect(await batch.states()).toStrictEqual([
      ['manual_paid', 'TRX-1'],
      ['manual_paid', 'TRX-2'],
    ])
    for (const { clientId } of batch.settlements) await expectBalanced(batch.deps, { clientId })
  })

  it.each<[string, object, string]>([
    ['a shortened reference', { bank_reference: '2.02611E+15' }, 'the reference 2.02611E+15 was'],
    ['a shortened account', { bank_account_no: '1.23457E+15' }, 'the account 1.23457E+15 was'],
    ['a shortened amount', { amount: '9,59E+04' }, 'the amount 9,59E+04 was shortened'],
    ['an amount with parts', { amount: '95900.50' }, 'the amount "95900.50" is no whole amount'],
    ['a huge amount', { amount: '9'.repeat(17) }, 'is no whole amount'],
    ['an edited amount', { amount: '95901' }, 'the amount is 95901, and 95900 in the'],
    [
      'an account that lost its zeros',
      { bank_account_no: '12345678' },
      'the account is 12345678, and',
    ],
    ['no account', { bank_account_no: '' }, 'it has no account number'],
    ['an unknown settlement', { settlement_id: crypto.randomUUID() }, 'settlement not found'],
    ['no settlement', { settlement_id: 'payout 7' }, 'it names no settlement'],
    ['an unfinished transfer', { status: 'PENDING' }, 'the status "PENDING" is neither paid nor'],
    ['a reference and a reason', { status: '', reason: 'Closed' }, 'it has no status'],
    ['neither status nor reference', { status: '', bank_reference: '' }, 'neither status nor'],
    ['no reference', { bank_reference: '' }, 'the line has no bank reference'],
    [
      'an account of an invisible mark',
      { bank_account_no: 'a\u202c' },
      'bank_account_no: must not',
    ],
    ['another script', { bank_reference: 'ТRX-1' }, 'bank_reference: must be 1 to 100 printable'],
    ['a day that does not exist', { value_date: '2026-02-30' }, 'value_date: must be a date such'],
    ['a year too early', { value_date: '2025-11-30' }, '2025-11-30 is more than'],
    ['a year too late', { value_date: '2027-11-15' }, '2027-11-15 is more than'],
    ['a batch that is too long', { batch: '9'.repeat(20) }, 'batch: must be an integer'],
    ['the type TRANSFER', { type: 'TRANSFER' }, 'the type "TRANSFER" is no payout'],
    [
      'the type DB',
      { type: 'DB', settlement_id: '', bank_account_no: '1E+15' },
      'the type "DB" is no',
    ],
    ['a cell too many', { status: 'paid","T9', type: 'PAYOUT' }, 'more cells than'],
    ['a cell moved into an empty column', { bank_reference: '000","TRX' }, 'more cells than'],
    ['a total and an account', { settlement_id: '', reason: 'Total' }, 'it names no settlement'],
  ])('refuses a line with %s, and goes on', async (_, change, reason) => {
    const batch = await aBatch()
    const [, first = [], second = []] = ownRows(batch)
    const head = [...OWN_HEAD, 'value_date', 'batch', 'type']
    const changed = Object.entries(change).reduce(
      (cells, [name, value]) => cells.with(head.indexOf(name), String(value)),
      [...first, '', '', ''],
    )

    const { code, out, err } = await batch.answer(text([head, changed, second]))

    expect([code, out]).toStrictEqual([1, expect.stringContaining('1 done, 0 failed, 1 refused')])
    expect(err).toMatch(/^line 2 {2}\S+ {2}refused: /)
    expect(err).toContain(reason)
    expect(await batch.states()).toStrictEqual([
      ['recorded', null],
      ['manual_paid', 'TRX-2'],
    ])
  })

  // A transfer of the provider ends as REVERSED, VOIDED or CANCELLED too.
  it.for(['GAGAL', 'REVERSED', 'VOIDED', 'CANCELLED', 'Compliance rejected'])(
    'marks as failed what is %s, in its words, and says so again',
    async (status, { batch }) => {
      const failed = ownRows(batch, {
        status,
        bank_reference: '',
        reason: `Rekening tutup\ufe0f${' '.repeat(1_000)}x`,
      })

      for (let sent = 0; sent < 2; sent++)
        expect(await batch.answer(text(failed))).toMatchObject({
          code: 0,
          out: expect.stringContaining('0 done, 2 failed, 0 refused'),
        })

      const [first] = batch.settlements
      expect(await findAnySettlement(batch.deps, String(first?.settlementId))).toMatchObject({
        status: 'failed',
        notes: 'Rekening tutup',
      })
      expect(await batch.answer(text(ownRows(batch)))).toMatchObject({ code: 1 })
    },
  )

  it('pays nothing twice: the same file again, and with swapped references', async ({ batch }) => {
    const [head = [], first = [], second = []] = ownRows(batch)
    const paid = [
      ['manual_paid', 'TRX-1'],
      ['manual_paid', 'TRX-2'],
    ]

    for (let sent = 0; sent < 2; sent++)
      expect(await batch.answer(text([head, first, second]))).toMatchObject({
        code: 0,
        out: expect.stringContaining('2 done'),
      })
    const swapped = [first.with(4, 'TRX-2'), second.with(4, 'TRX-1')]
    const { code, err } = await batch.answer(text([head, ...swapped]))

    expect([code, err]).toStrictEqual([
      1,
      expect.stringContaining('already, with the reference TRX-1'),
    ])
    expect(await batch.states()).toStrictEqual(paid)
  })

  it('takes one debit for a batch as reference and line, and refuses a reference of some lines', async () => {
    const batch = await aBatch(4)
    const [head = [], ...lines] = ownRows(batch, { bank_reference: 'one debit' })
    const [first = [], second = [], third = [], other = []] = lines

    await batch.answer(text([head, first]))
    const hidden = await batch.answer(text([head, first, second, third.with(4, 'TRX\u200b3')]))
    const some = await batch.answer(text([head, first, second, third.with(4, 'TRX-3')]))

    expect(hidden.out).toBe('0 done, 0 failed, 3 refused')
    expect(some).toMatchObject({ code: 1, out: expect.stringContaining('1 done') })
    expect(some.err).toContain('its reference is on the lines 2, 3, and not on all of the batch')
    const failed = other.with(3, 'FAILED').with(4, 'TRX-4')
    expect(
      await batch.answer(text([head, second.with(4, 'OneDebit'), first, failed])),
    ).toMatchObject({ code: 0 })
    expect(await batch.states()).toStrictEqual([
      ['manual_paid', 'ONEDEBIT'],
      ['manual_paid', 'ONEDEBIT#2'],
      ['manual_paid', 'TRX-3'],
      ['failed', null],
    ])
  })

  it('needs the day for a reference that was used on another day', async () => {
    const batch = await aBatch(3)
    const [head = [], first = [], second = [], third = []] = ownRows(batch, {
      bank_reference: '000001',
    })
    await batch.answer(text([head, first]))

    const { err } = await batch.answer(text([head, second]))
    const dated = [
      [...head, 'value_date'],
      [...second, new Date('2026-11-21')],
      [...third, new Date('2026-01-22')],
    ]

    expect(err).toContain('give value_date')
    for (let sent = 0; sent < 2; sent++)
      expect(await batch.answer(await xlsx(dated))).toMatchObject({ code: 0, err: '' })
    expect(await batch.states()).toStrictEqual([
      ['manual_paid', '000001'],
      ['manual_paid', '000001#2026-11-21'],
      ['manual_paid', '000001#2026-01-22'],
    ])
  })

  it('refuses the answer of a batch that was cancelled, and a settlement twice', async ({
    batch,
  }) => {
    const [head = [], first = [], second = []] = ownRows(batch)
    await cancelFile(batch.deps, 1)
    await batch.tool.run('payout-file', '--out', batch.folder)

    const ofFirst = [[...head, 'batch'], ...[first, second].map((row) => [...row, '1'])]
    const { err } = await batch.answer(text(ofFirst))
    const twice = await batch.answer(text([head, first, first.with(4, 'TRX-9')]))

    expect(err).toContain('it is in batch 2, and the file is of batch 1')
    expect(twice.err).toContain('its settlement is on the lines 2, 3')
    expect(await batch.states()).toStrictEqual([
      ['recorded', null],
      ['recorded', null],
    ])
  })

  it('writes what lacks an approval into a file for approve --file', async () => {
    const deps = memoryDeps()
    const { settlementId } = await aWaitingSettlement(deps, { bank: { ...BANK, isChange: true } })
    const tool = await cli(served(deps), { GATEWAY_OPERATOR: 'wati' })
    const folder = tempDirectory()

    const first = await tool.run('payout-file', '--out', folder)
    const approved = await tool.run('approve', '--file', join(folder, 'payout-approvals.csv'))
    const second = await tool.run('payout-file', '--out', folder)

    expect(first.code).toBe(0)
    expect(first.err).toContain(`Left out: ${settlementId}: mark-settlement-paid needs an approval`)
    expect(first.err).toContain('runs: npm run -s admin -- approve --action mark-settlement-paid')
    expect(first.err).toContain(`runs npm run -s admin -- approve --file ${folder}`)
    expect(approved.out).toBe(`line 2  ${settlementId}  done\n1 of 1 done`)
    expect(second.out).toContain('Batch 1: ready, 1 payouts')
  })
})
