import { booksOf } from '../../support/books.ts'
import { operate } from '../world/lambda.ts'
import { figureProblems, houseProblems } from './figure-problems.ts'
import type { Play } from './operations.ts'

/** Before the first payment of every history. */
const FROM = { from: '2026-01-01' }

/** An operator looks at them, while everything moves. */
export const lookAtBooks = async ({ world, tenants }: Pick<Play, 'world' | 'tenants'>): Promise<void> => {
  const { prng } = world
  const asked = [{}, FROM, { format: 'csv' }, { provider_balance: true }, { client_id: prng.pick(tenants).clientId }]
  await operate(world, 'get-books', prng.pick(asked))
}

type Ask = <T>(promise: Promise<T>) => Promise<T>

/** At rest the books of each client, and of all, are what the raw items say, to the rupiah. */
export const booksProblems = async ({ world, tenants }: Play, ask: Ask): Promise<readonly string[]> => {
  const items = world.table.items()
  const books = booksOf(items)
  const problems: string[] = [...houseProblems(items, books)]
  for (const clientId of [undefined, ...tenants.map((tenant) => tenant.clientId)]) {
    const of = clientId === undefined ? {} : { client_id: clientId }
    const { body = {} } = (await ask(operate(world, 'get-books', { ...FROM, ...of }))) ?? {}
    const figures = (body['figures'] ?? []) as readonly { readonly name: string; readonly amount_minor: number }[]
    const shown = new Map(figures.map((one) => [one.name, one.amount_minor]))
    problems.push(...figureProblems(books, clientId, shown))
    if (body['balanced'] !== true) problems.push(`the books of ${clientId ?? 'all'} say ${JSON.stringify(body)}`)
  }
  return problems
}
