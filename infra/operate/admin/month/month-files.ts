import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { bookDay } from '../../../../shared/journal/day-totals.ts'
import { csv } from '../../../../shared/settlement/statement/csv.ts'
import { TimestampSchema } from '../../../../shared/time.ts'
import { InvocationFailed } from '../invoke-action.ts'
import { type Ask, csvReader, partsOf } from './month-parts.ts'

/** Days of Asia/Jakarta, both included. */
export type Days = { readonly from: string; readonly to: string }

type Place = { readonly folder: string; readonly ask: Ask }

export type MonthBooks = {
  /** Of all clients and the house, as the action adds them up. */
  readonly figures: Readonly<Record<string, number>>
  /** The same figures, added up from the lines of clients and house. */
  readonly sums: Readonly<Record<string, number>>
  readonly isBalanced: boolean
  readonly clients: readonly ClientBook[]
}

export type ClientBook = {
  readonly clientId: string
  readonly openingMinor: number
  readonly closingMinor: number
  readonly isBalanced: boolean
}

const CsvPart = v.object({ csv: v.string() })
const FiguresPart = v.object({
  figures: v.array(v.object({ name: v.string(), amount_minor: v.number() })),
  balanced: v.boolean(),
})

export async function writeBooks({ from, to }: Days, { folder, ask }: Place): Promise<MonthBooks> {
  const parts = await Array.fromAsync(partsOf(ask, 'get-books', { from, to }, v.unknown()))
  const all = v.parse(FiguresPart, parts.at(-1))
  writeFileSync(join(folder, 'books-of-all.csv'), csv(['name', 'amount_minor'], all.figures))
  writeFileSync(join(folder, PAYOUTS), csv(PAYOUT_COLUMNS, []))
  const names = all.figures.map(({ name }) => name)
  const sums = Object.fromEntries(names.map((name) => [name, 0]))
  const clients: ClientBook[] = []
  const rowsIn = csvReader()
  const payload = { from, to, format: 'csv' }
  for await (const { csv: text } of partsOf(ask, 'get-books', payload, CsvPart)) {
    appendFileSync(join(folder, 'books-by-client.csv'), text)
    for (const row of rowsIn(text)) {
      for (const name of names) sums[name] = (sums[name] ?? 0) + Number(row[name])
      if (row['client_id'] !== 'house')
        clients.push({
          clientId: row['client_id'] ?? '',
          openingMinor: Number(row['opening.clients']),
          closingMinor: Number(row['clients']),
          isBalanced: row['balanced'] === 'true',
        })
    }
  }
  const figures = Object.fromEntries(
    all.figures.map((figure) => [figure.name, figure.amount_minor]),
  )
  return { figures, sums, isBalanced: all.balanced, clients }
}

export type StatementSums = {
  readonly openingMinor: number
  readonly linesMinor: number
  readonly paidMinor: number
  readonly closingMinor: number | null
  readonly finalUntil: string
}

const StatementPart = v.object({
  csv: v.string(),
  opening_minor: v.number(),
  closing_minor: v.nullable(v.number()),
  final_until: v.string(),
})

const PAYOUTS = 'payouts.csv'
const PAYOUT_COLUMNS = ['client_id', 'at', 'settlement_id', 'amount_minor'] as const

export async function writeStatement(clientId: string, { from, to }: Days, { folder, ask }: Place) {
  const rowsIn = csvReader()
  let [linesMinor, paidMinor] = [0, 0]
  let sums: StatementSums | undefined
  const payload = { client_id: clientId, from, to, format: 'csv' }
  for await (const part of partsOf(ask, 'get-statement', payload, StatementPart)) {
    appendFileSync(join(folder, 'statements', `${clientId}.csv`), part.csv)
    const lines = rowsIn(part.csv).map((line) => ({
      ...line,
      amount: Number(line['amount_minor']),
    }))
    const payouts = lines
      .filter((line) => Reflect.get(line, 'type') === 'payout')
      .map(({ amount, ...line }) => ({ ...line, client_id: clientId, amount_minor: -amount }))
    linesMinor += lines.reduce((sum, { amount }) => sum + amount, 0)
    paidMinor += payouts.reduce((sum, { amount_minor: amount }) => sum + amount, 0)
    appendFileSync(join(folder, PAYOUTS), csv(PAYOUT_COLUMNS, payouts, true))
    sums = {
      openingMinor: part.opening_minor,
      linesMinor,
      paidMinor,
      closingMinor: part.closing_minor,
      finalUntil: part.final_until,
    }
  }
  return sums
}

const FILES = { case: 'cases.csv', money: 'suspense.csv', finding: 'findings.csv' } as const

const cell = v.nullish(v.union([v.string(), v.number()]))
const ITEM = {
  suspense_id: v.string(),
  cause: cell,
  amount_minor: cell,
  payment_id: cell,
  status: cell,
  due_at: cell,
  resolution: cell,
}
const COLUMNS = [...v.keyof(v.object(ITEM)).options, 'created_at'] as const
const ItemsPart = v.object({
  unreadable_ids: v.optional(v.array(v.string()), []),
  data: v.array(
    v.object({
      ...ITEM,
      kind: v.picklist(['case', 'money', 'finding']),
      created_at: TimestampSchema,
    }),
  ),
})

const PER_PAGE = 100
const MAX_PAGES = 1_000

/**
 * Cases, held money and findings of the month, and older ones that are open now. Answers the ids of
 * the rows that cannot be read.
 */
export async function writeSuspense({ from, to }: Days, { folder, ask }: Place) {
  const unreadable = new Set<string>()
  for (const file of Object.values(FILES)) writeFileSync(join(folder, file), csv(COLUMNS, []))
  const write = async (list: { readonly status?: 'open' }, written: Set<string>) => {
    const isOfOpen = list.status === 'open'
    for (let page = 1; page <= MAX_PAGES; page++) {
      const payload = { ...list, page, per_page: PER_PAGE }
      const [part] = await Array.fromAsync(partsOf(ask, 'list-suspense', payload, ItemsPart))
      const { data: items, unreadable_ids: ids } = part ?? { data: [], unreadable_ids: [] }
      for (const id of ids) unreadable.add(id)
      for (const item of items.filter(({ suspense_id: id }) => !written.has(id))) {
        written.add(item.suspense_id)
        const day = bookDay(item.created_at)
        const isShown = isOfOpen ? day < from : from <= day && day <= to
        if (isShown) appendFileSync(join(folder, FILES[item.kind]), csv(COLUMNS, [item], true))
      }
      // The list is newest first. Items that changed meanwhile make a page short.
      const oldest = items.at(-1)?.created_at
      if (oldest === undefined && ids.length === 0) return
      if (oldest !== undefined && !isOfOpen && bookDay(oldest) < from) return
    }
    throw new InvocationFailed(`list-suspense has more than ${MAX_PAGES} pages`)
  }
  await write({}, new Set())
  // An item that is resolved meanwhile moves another item to a page that was read before.
  const written = new Set<string>()
  for (let count = -1; count < written.size; ) {
    count = written.size
    await write({ status: 'open' }, written)
  }
  return [...unreadable]
}
