import { type Books, booksOf, clientOf, type RawItem, sum, text } from '../../support/recount/books.ts'
import { sweptBy } from '../../support/recount/journal-books.ts'
import { lookUp } from '../world/lambda.ts'
import { figureProblems, houseProblems } from './figure-problems.ts'
import type { Play } from './operations.ts'

/** Before the first payment of every history. */
const FROM = { from: '2026-01-01' }

/** An operator looks at them, while everything moves. */
export const lookAtBooks = async ({ world, tenants }: Pick<Play, 'world' | 'tenants'>): Promise<void> => {
  const { prng } = world
  const asked = [{}, FROM, { format: 'csv' }, { provider_balance: true }, { client_id: prng.pick(tenants).clientId }]
  await lookUp(world, 'get-books', prng.pick(asked))
}

type Ask = <T>(promise: Promise<T>) => Promise<T>

/** The statement of each settlement has every entry of its window, zeros for the client included. */
const statementProblems = async (
  { world }: Pick<Play, 'world'>,
  books: Books,
  ask: Ask,
): Promise<readonly string[]> => {
  const problems: string[] = []
  for (const settlement of books.settlements) {
    const id = text(settlement, 'settlement_id')
    const lines: RawItem[] = []
    let cursor: unknown
    do {
      const asked = { settlement_id: id, ...(typeof cursor === 'string' && { cursor }) }
      const { body = {} } = (await ask(lookUp(world, 'get-settlement-statement', asked))) ?? {}
      lines.push(...((body['entries'] ?? []) as readonly RawItem[]))
      cursor = body['cursor']
    } while (typeof cursor === 'string')
    const own = books.entries.filter((entry) => clientOf(entry) === settlement['client_id'])
    const stored = sweptBy(settlement, own).map((entry) => entry['entry_id'])
    if (
      lines.map((line) => line['id']).join() !== stored.join() ||
      sum(lines, 'client_net_minor') !== settlement['net_minor']
    )
      problems.push(`the statement of settlement ${id} has ${lines.length} entries, its window ${stored.length}`)
  }
  return problems
}

/** At rest the books of each client, and of all, are what the raw items say, to the rupiah. */
export const booksProblems = async ({ world, tenants }: Play, ask: Ask): Promise<readonly string[]> => {
  const items = world.table.items()
  const books = booksOf(items)
  const problems: string[] = [...houseProblems(items, books)]
  for (const clientId of [undefined, ...tenants.map((tenant) => tenant.clientId)]) {
    const of = clientId === undefined ? {} : { client_id: clientId }
    const { body = {} } = (await ask(lookUp(world, 'get-books', { ...FROM, ...of }))) ?? {}
    const figures = (body['figures'] ?? []) as readonly { readonly name: string; readonly amount_minor: number }[]
    const shown = new Map(figures.map((one) => [one.name, one.amount_minor]))
    problems.push(...figureProblems(books, clientId, shown))
    if (body['balanced'] !== true) problems.push(`the books of ${clientId ?? 'all'} say ${JSON.stringify(body)}`)
  }
  return [...problems, ...(await statementProblems({ world }, books, ask))]
}
