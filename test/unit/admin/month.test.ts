import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Month, monthPage } from '../../../infra/operate/admin/month/month-page.ts'
import { cli } from '../../support/admin-command.ts'
import { json } from '../../support/scripted-server.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

const ALL = {
  'opening.clients': 10,
  'taken_in.qris': 7,
  clients: 15,
  paid_out: 2,
  'opening.at_bank': 0,
  at_bank: -2,
  'at_bank.payout': -2,
  'opening.at_provider': 10,
  'at_provider.payment': 7,
  at_provider: 17,
}
const STATEMENT = {
  openingMinor: 10,
  linesMinor: 5,
  paidMinor: 2,
  closingMinor: 15,
  finalUntil: '2026-12-01T17:00:00.000Z',
}
const CLIENT = { clientId: 'c1', openingMinor: 10, closingMinor: 15, isBalanced: true }

const BOOKS = { figures: ALL, sums: ALL, isBalanced: true, clients: [CLIENT] }

function aMonth(fields: Partial<Month> = {}) {
  return {
    from: '2026-11-01',
    to: '2026-11-30',
    madeAt: '2026-12-02T02:00:00.000Z',
    books: BOOKS,
    clients: [{ ...CLIENT, statement: STATEMENT }],
    refusals: [],
    ...fields,
  }
}

it('the page of a month says its zone, and that all adds up', () => {
  const { text, wrong } = monthPage(aMonth())

  expect(wrong).toStrictEqual([])
  expect(text).toContain('Days are those of Asia/Jakarta (UTC+7). Times in the files are UTC.')
  expect(text).toContain('| clients | 10 | 5 | 15 |')
  expect(text).toContain('were owed 10 at the beginning and 15 at the end. Paid out: 2.')
})

it.each<[string, Partial<Month>, string]>([
  [
    'clients and house against all',
    { books: { ...BOOKS, sums: { ...ALL, paid_out: 3 } } },
    'paid_out: clients and house are 3, all is 2.',
  ],
  [
    'opening and flows against closing',
    { books: { ...BOOKS, figures: { ...ALL, 'taken_in.qris': 8 }, sums: {} } },
    'Books of all, flows of clients: 15 instead of 16.',
  ],
  [
    'an opening of a statement against the books',
    { clients: [{ ...CLIENT, openingMinor: 9, statement: STATEMENT }] },
    'Statement of client c1: opening, and in the books: 10 and 9.',
  ],
  [
    'the lines of a statement against its closing',
    { clients: [{ ...CLIENT, statement: { ...STATEMENT, linesMinor: 6 } }] },
    'Statement of client c1: opening and lines, and its closing: 16 and 15.',
  ],
  [
    'a closing of a statement against the books',
    { clients: [{ ...CLIENT, closingMinor: 16, statement: STATEMENT }] },
    'Statement of client c1: closing, and in the books: 15 and 16.',
  ],
  [
    'payouts against the books',
    { clients: [{ ...CLIENT, statement: { ...STATEMENT, paidMinor: 1 } }] },
    'Payouts of all statements, and paid_out: 1 and 2.',
  ],
  [
    'books that are not balanced',
    { books: { ...BOOKS, isBalanced: false } },
    'The books of all are not balanced: get-books names the differences.',
  ],
])('the page of a month names %s', (_, fields, sentence) => {
  const { text, wrong } = monthPage(aMonth(fields))

  expect(wrong).toStrictEqual([sentence])
  expect(text).toContain(`- ${sentence}`)
})

it('the page of a month states nothing of books and statements that were refused', () => {
  const refusals = ['refused']
  const noBooks = monthPage(aMonth({ books: undefined, clients: [], refusals }))
  expect(noBooks.wrong).toStrictEqual(refusals)
  expect(noBooks.text).not.toMatch(/no clients|clients were|Accounts/)

  const read = { ...CLIENT, statement: { ...STATEMENT, paidMinor: 1 } }
  const refused = { ...CLIENT, statement: undefined }
  const one = monthPage(aMonth({ clients: [refused, read], refusals }))
  expect(one.wrong).toStrictEqual(refusals)
  expect(one.text).toContain(`before ${STATEMENT.finalUntil} UTC never change, for 1 of 2 clients.`)
  const none = monthPage(aMonth({ clients: [refused], refusals }))
  expect(none.wrong).toStrictEqual(refusals)
  expect(none.text).toContain('No statement was read.')
})

it('npm run admin -- month takes its time from the stage, and needs a folder', async () => {
  const { run } = await cli((response, request) => {
    const isClock = request.url === '/_local/clock'
    json(200, isClock ? { now: '2026-11-30T16:59:59.000Z' } : {})(response, request)
  })

  expect(await run('month', '2026-11')).toMatchObject({
    code: 2,
    err: 'give a folder for the files: --out DIR',
  })
  const folder = join(tempDirectory(), 'new')
  expect(await run('month', '2026-12', '--out', folder)).toMatchObject({
    code: 2,
    err: '2026-12 has not begun: in Jakarta it is 2026-11-30',
  })
})

it('npm run admin -- month names the rows of suspense that cannot be read, and ends with 1', async () => {
  const { run } = await cli((response, request) => {
    const [, page] = /"page":([12]),/.exec(request.body) ?? []
    const body = page
      ? { data: [], unreadable_ids: [`suspense-${page}`] }
      : { csv: '', data: [], figures: [], balanced: true }
    const isClock = request.url === '/_local/clock'
    const answer = isClock ? { now: '2026-12-02T02:00:00.000Z' } : { status: 200, body }
    json(200, answer)(response, request)
  })
  const folder = join(tempDirectory(), 'new')

  const { code, err } = await run('month', '2026-11', '--out', folder)

  expect(code).toBe(1)
  expect(err).toContain('Suspense: rows that cannot be read: suspense-1, suspense-2.')
})
