import { problemsIn } from '../../../../shared/books/book.ts'
import { minor } from '../../../../shared/money.ts'
import type { ClientBook, Days, MonthBooks, StatementSums } from './month-files.ts'

export type ClientMonth = ClientBook & { readonly statement: StatementSums | undefined }

export type Month = Days & {
  readonly madeAt: string
  /** Undefined if they were refused. */
  readonly books: MonthBooks | undefined
  readonly clients: readonly ClientMonth[]
  /** What was refused, or could not be read. */
  readonly refusals: readonly string[]
}

const MAX_NAMED = 50

/**
 * The first page of a month (markdown), and a sentence for each wrong sum: clients and house
 * against all, opening and flows against closing, statements against books, payouts.
 */
export function monthPage(month: Month): {
  readonly text: string
  readonly wrong: readonly string[]
} {
  const { from, to, madeAt, books } = month
  const wrong = [
    ...month.refusals,
    ...(books ? [...wrongBooks(books), ...wrongStatements(month, books)] : []),
  ]
  const text = `# Month of ${from} to ${to}

Days are those of Asia/Jakarta (UTC+7). Times in the files are UTC. Amounts are IDR. Made at ${madeAt} UTC.
${finalDays(month)}

## ${wrong.length === 0 ? 'All adds up' : `${wrong.length} problems`}

${wrong.length === 0 ? 'Clients and house are all; opening and flows are closing; each statement is its book; payouts are paid_out.' : wrong.map((sentence) => `- ${sentence}`).join('\n')}

${books ? figuresOf(month, books) : ''}## Files

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

/** Of the clients whose statements were read. */
function finalDays({ books, clients }: Month) {
  if (books === undefined) return 'The books were not read, so this page has no figures.'
  if (clients.length === 0) return 'There are no clients.'
  const times = clients.flatMap(({ statement }) => statement?.finalUntil ?? []).toSorted()
  const whose = times.length < clients.length ? `${times.length} of ${clients.length}` : 'all'
  return times[0] === undefined
    ? 'No statement was read.'
    : `Days that ended before ${times[0]} UTC never change, for ${whose} clients. Figures of later days may move between two reads, and then differ here.`
}

function figuresOf({ clients }: Month, { figures }: MonthBooks) {
  const closing = (account: string) => (account === 'markup' ? 'closing.markup' : account)
  const accounts = Object.keys(figures)
    .filter((name) => name.startsWith('opening.'))
    .map((name) => name.replace('opening.', ''))
  const rowOf = (account: string) => {
    const opening = figures[`opening.${account}`] ?? 0
    const end = figures[closing(account)] ?? 0
    return `| ${account} | ${opening} | ${end - opening} | ${end} |`
  }
  return `## Accounts

| Account | Opening | Change | Closing |
|---|---|---|---|
${accounts.map(rowOf).join('\n')}

## Clients

${clients.length} clients were owed ${sumOf(clients, 'openingMinor')} at the beginning and ${sumOf(clients, 'closingMinor')} at the end. Paid out: ${figures['paid_out'] ?? 0}.

`
}

function sumOf(clients: readonly ClientBook[], side: 'openingMinor' | 'closingMinor') {
  return clients.reduce((sum, client) => sum + client[side], 0)
}

function wrongBooks({ figures, sums, isBalanced, clients }: MonthBooks) {
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
      // Open payments move between two reads.
      .filter(([name, amount]) => name !== 'open' && name in sums && sums[name] !== amount)
      .map(([name, amount]) => `${name}: clients and house are ${sums[name]}, all is ${amount}.`),
  ]
}

function wrongStatements({ clients }: Month, { figures }: MonthBooks) {
  const paidMinor = clients.reduce((sum, { statement }) => sum + (statement?.paidMinor ?? 0), 0)
  const paidOut = figures['paid_out'] ?? 0
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
  // Payouts of a statement that was refused are not known.
  return clients.some(({ statement }) => statement === undefined)
    ? wrong
    : [...wrong, ...unequal('Payouts of all statements, and paid_out', paidMinor, paidOut)]
}

function unequal(what: string, a: number | null, b: number | null) {
  return a === b ? [] : [`${what}: ${a} and ${b}.`]
}
