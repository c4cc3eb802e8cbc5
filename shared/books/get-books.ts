import * as v from 'valibot'
import { mapInChunks } from '../chunks.ts'
import { type Registered, walkClients } from '../client/client-register.ts'
import { requireClient } from '../client/client-store.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { invalidField } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { houseTotals } from '../journal/house-store.ts'
import { encodeCursor, readCursor } from '../page.ts'
import { csv } from '../settlement/statement/csv.ts'
import { CONTRADICTING_CAUSES, SuspenseSchema } from '../suspense/suspense.ts'
import { idOf, rowKeysOf } from '../table/keys.ts'
import { keyedItems, queryAll } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { unacceptedDifferences } from '../verdict/acceptances.ts'
import {
  compare,
  type Difference,
  DifferenceSchema,
  mayBePaid,
  unreadableRow,
  withoutClient,
} from '../verdict/difference.ts'
import { readVerdict } from '../verdict/verdict-store.ts'
import { FIGURES, figureOf, problemsIn } from './book.ts'
import { type BookPeriod, bookPeriod, type PeriodInput, WALK_FIELDS } from './book-period.ts'
import {
  type CheckedBook,
  checkLines,
  EMPTY_BOOK,
  joinBooks,
  readClientBook,
} from './client-book.ts'

type BooksDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'monotonicMs' | 'provider'>

type BooksInput = PeriodInput & {
  /** If absent: all clients and the house. */
  readonly clientId?: ClientId | undefined
  readonly providerBalance: boolean
}

const COLUMNS = ['client_id', ...Object.keys(FIGURES), 'balanced'] as const

/**
 * The books of days of Asia/Jakarta (design section 12). A run that cannot read all clients answers
 * a cursor with the sums so far, to which the next run adds. Throws 404 for an unknown client.
 */
export async function getBooks(deps: BooksDeps, input: BooksInput) {
  if (input.clientId === undefined) return booksOfAll(deps, input)
  if (input.cursor !== undefined) throw invalidField('cursor', 'omit it with client_id')
  const { clientId } = await requireClient(deps, input.clientId)
  const period = bookPeriod(deps, input)
  const checked = await witnessedBook(deps, clientId, period, await contradictions(deps))
  if (input.format === 'json') return toBooksDto(period, checked)
  return { csv: csv(COLUMNS, [lineOf(clientId, checked)]) }
}

const CLIENTS_AT_ONCE = 8

/** As many lines as fit into a Lambda's answer of 6 MB. */
const MAX_CLIENTS = 5_000

const Progress = v.strictObject({
  ...WALK_FIELDS,
  book: v.record(v.string(), v.number()),
  differences: v.array(v.strictObject(DifferenceSchema.entries)),
})

async function booksOfAll(deps: BooksDeps, input: BooksInput) {
  const isCsv = input.format === 'csv'
  const progress = readCursor(Progress, input.cursor)
  const period = progress?.period ?? bookPeriod(deps, input)
  const lines: ReturnType<typeof lineOf>[] = []
  const contradicted = await contradictions(deps)
  let sum: CheckedBook = progress ?? EMPTY_BOOK
  const read = async (clients: readonly Registered[]) => {
    const books = await mapInChunks(clients, CLIENTS_AT_ONCE, ({ clientId }) =>
      witnessedBook(deps, clientId, period, contradicted),
    )
    lines.push(...books.map((checked, at) => lineOf(clients[at]?.clientId ?? '', checked)))
    sum = joinBooks(sum, ...books)
  }
  const position = await walkClients(deps, progress?.position, {
    read,
    isFull: () => lines.length >= MAX_CLIENTS,
  })
  if (position) {
    const cursor = encodeCursor({ period, book: sum.book, differences: sum.differences, position })
    return {
      continuing: true,
      cursor,
      ...(isCsv && { csv: csv(COLUMNS, lines, progress !== undefined) }),
    }
  }
  const { rows: totals, unreadableIds } = await houseTotals(deps, {
    fromDay: '0',
    untilDay: period.to,
  })
  const house = joinBooks(checkLines(totals, period, { what: 'house.totals', id: 'house' }), {
    differences: [
      ...unreadableIds.flatMap((id) => unreadableRow('house_total', id)),
      ...(await auditDifferences(deps, GATEWAY_OWNER)),
      ...(contradicted.get(GATEWAY_OWNER) ?? []),
    ],
  })
  if (isCsv)
    return { csv: csv(COLUMNS, [...lines, lineOf('house', house)], progress !== undefined) }
  return {
    ...toBooksDto(period, joinBooks(sum, house)),
    ...(input.providerBalance && { provider_balance: await askForBalance(deps) }),
  }
}

function lineOf(owner: string, checked: CheckedBook) {
  return {
    client_id: owner,
    ...Object.fromEntries(Object.keys(FIGURES).map((name) => [name, figureOf(checked.book, name)])),
    balanced: String(problemsOf(checked).length === 0),
  }
}

function problemsOf({ book, differences }: CheckedBook) {
  return [...problemsIn(book), ...differences]
}

/** A book is balanced only while its audits find no difference, and its rows are as they say. */
async function witnessedBook(
  deps: BooksDeps,
  clientId: ClientId,
  period: BookPeriod,
  contradicted: Awaited<ReturnType<typeof contradictions>>,
) {
  const checked = await readClientBook(deps, clientId, period)
  const differences = await auditDifferences(deps, clientId)
  return joinBooks(checked, { differences }, { differences: contradicted.get(clientId) ?? [] })
}

function toBooksDto({ from, to }: BookPeriod, checked: CheckedBook) {
  const differences = problemsOf(checked)
  return {
    from,
    to,
    figures: Object.entries(FIGURES).map(([name, source]) => ({
      name,
      amount_minor: figureOf(checked.book, name),
      source,
    })),
    balanced: differences.length === 0,
    ...(differences.length > 0 && { differences }),
  }
}

/** The balance proves nothing, because the provider names no settlement time. */
async function askForBalance({ provider, now }: BooksDeps) {
  const answer = await provider.getBalance()
  if (answer.kind !== 'found')
    return { unanswered: answer.kind === 'unanswered' ? answer.reason : answer.kind }
  return { account: answer.value.account, amount_minor: answer.value.amountMinor, at: now() }
}

/** What an audit found and finance has not accepted, if it would refuse payouts. */
async function auditDifferences(deps: TableDeps, owner: string) {
  const { standing } = await readVerdict(deps, owner)
  const blocking = standing.filter((difference) => !mayBePaid(difference))
  return (await unacceptedDifferences(deps, owner, blocking)).map(withoutClient)
}

/**
 * The unexplained findings of rows that contradict themselves, by client or gateway. The list of
 * open items has their causes, so a finding that cannot be read counts.
 */
export async function contradictions(deps: TableDeps) {
  const partition = [GATEWAY_OWNER, 'suspense', 'open'] as const
  const rows = await queryAll(deps, { index: 'by-status', partition, limit: 1_000 })
  const contradicting = rows.filter(({ pk }) =>
    CONTRADICTING_CAUSES.some((cause) => String(pk).endsWith(`#${cause}`)),
  )
  const keys = rowKeysOf('SUSPENSE', contradicting)
  const byOwner = new Map<string, readonly Difference[]>()
  for (const { key, item } of keyedItems(keys, await deps.table.getMany(keys))) {
    const { status = 'unreadable' } = ifValid(SuspenseSchema, item) ?? {}
    if (item === undefined || status === 'resolved') continue
    const owner = ifValid(v.string(), item['clientId']) ?? GATEWAY_OWNER
    const found = compare('contradicting row', idOf(key.pk), 'explained', status)
    byOwner.set(owner, [...(byOwner.get(owner) ?? []), ...found])
  }
  return byOwner
}
