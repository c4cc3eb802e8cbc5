import { problemsIn } from '../../../shared/books/book.ts'
import { minor } from '../../../shared/money.ts'
import type { ClientBook, Days, MonthBooks, StatementSums } from './month-files.ts'

export type ClientMonth = ClientBook & { readonly statement: StatementSums | undefined }

export type Month = Days & {
  readonly madeAt: string
  readonly books: MonthBooks
  readonly clients: readonly ClientMonth[]
  /** What was refused, or could not be read. */
  readonly refusals: readonly string[]
}

/** So many clients are named on the page. */
const MAX_NAMED = 50

/**
 * The first page of a month (markdown), and a sentence for each sum that is wrong: clients and
 * house against all, opening and flows against closing, statements against books, payouts.
 */
export function monthPage(month: Month): {
  readonly text: string
  readonly wrong: readonly string[]
} {
  const { from, to, madeAt, books, clients } = month
  const wrong = [...month.refusals, ...wrongBooks(books), ...wrongStatements(month)]
  const finalUntil = clients.map(({ statement }) => statement?.finalUntil ?? '').toSorted()[0]
  const closing = (account: string) => (account === 'markup' ? 'closing.markup' : account)
  const accounts = Object.keys(books.figures)
    .filter((name) => name.startsWith('opening.'))
    .map((name) => name.replace('opening.', ''))
  const rowOf = (account: string) => {
    const opening = books.figures[`opening.${account}`] ?? 0
    const end = books.figures[closing(account)] ?? 0
    return `| ${account} | ${opening} | ${end - opening} | ${end} |`
  }
  const text = `# Month of ${from} to ${to}

Days are those of Asia/Jakarta (UTC+7). Times in the files are UTC. Amounts are IDR. Made at ${madeAt} UTC.
${finalUntil === undefined ? 'There are no clients.' : `Days that ended before ${finalUntil} UTC never change, for any client. Figures of later days may move between two reads, and then differ here.`}

## ${wrong.length === 0 ? 'All adds up' : `${wrong.length} problems`}

${wrong.length === 0 ? 'Clients and house are all; opening and flows are closing; each statement is its book; payouts are paid_out.' : wrong.map((sentence) => `- ${sentence}`).join('\n')}

## Accounts

| Account | Opening | Change | Closing |
|---|---|---|---|
${accounts.map(rowOf).join('\n')}

## Clients

${clients.length} clients were owed ${sumOf(clients, 'openingMinor')} at the beginning and ${sumOf(clients, 'closingMinor')} at the end. Paid out: ${books.figures['paid_out'] ?? 0}.

| File | What |
|---|---|
| \`books-of-all.csv\` | the figures of all clients and the house |
| \`books-by-client.csv\` | the same, a line for each client, the last for the house |
| \`statements/\` | each client's statement |
| \`payouts.csv\` | the payouts of the month, by client |
| \`cases.csv\`, \`suspense.csv\`, \`findings.csv\` | of the month, and older ones that are open |

Import CSV as text: a spreadsheet changes long ids and references (in pandas \`dtype=str\`).
`
  return { text, wrong }
}

function sumOf(clients: readonly ClientBook[], side: 'openingMinor' | 'closingMinor'): number {
  return clients.reduce((sum, client) => sum + client[side], 0)
}

function wrongBooks({ figures, sums, isBalanced, clients }: MonthBooks): readonly string[] {
  const book = Object.fromEntries(
    Object.entries(figures).map(([name, amount]) => [name, minor(amount)]),
  )
  const unbalanced = clients.filter((client) => !client.isBalanced)
  return [
    ...(isBalanced ? [] : ['The books of all are not balanced: get-books names the differences.']),
    ...unbalanced
      .slice(0, MAX_NAMED)
      .map(({ clientId }) => `The book of client ${clientId} is not balanced.`),
    ...problemsIn(book).map(
      ({ what, id, expected, found }) =>
        `Books of all, ${what} of ${id}: ${String(found)} instead of ${String(expected)}.`,
    ),
    ...Object.entries(figures)
      // What is open is of now, and moves between two reads.
      .filter(([name, amount]) => name !== 'open' && name in sums && sums[name] !== amount)
      .map(([name, amount]) => `${name}: clients and house are ${sums[name]}, all is ${amount}.`),
  ]
}

function wrongStatements({ books, clients }: Month): readonly string[] {
  const paidMinor = clients.reduce((sum, { statement }) => sum + (statement?.paidMinor ?? 0), 0)
  const paidOut = books.figures['paid_out'] ?? 0
  const wrong = clients.flatMap((client) => {
    const { clientId, openingMinor, closingMinor, statement } = client
    // What was refused is said by its refusal.
    if (statement === undefined) return []
    const { linesMinor } = statement
    const name = `Statement of client ${clientId}:`
    return [
      ...unequal(`${name} opening, and in the books`, statement.openingMinor, openingMinor),
      ...unequal(
        `${name} opening and lines, and its closing`,
        statement.openingMinor + linesMinor,
        statement.closingMinor,
      ),
      ...unequal(`${name} closing, and in the books`, statement.closingMinor, closingMinor),
    ]
  })
  return [...wrong, ...unequal('Payouts of all statements, and paid_out', paidMinor, paidOut)]
}

function unequal(what: string, a: number | null, b: number | null): readonly string[] {
  return a === b ? [] : [`${what}: ${a} and ${b}.`]
}
