import { amount, type RawItem, text } from '../../support/books.ts'
import { statementProblems } from '../scenes/pay-unconfirmed.ts'
import { operate } from '../world/lambda.ts'
import type { World } from '../world/world.ts'
import { figureProblems } from './figure-problems.ts'
import type { Play } from './operations.ts'

/** An operator looks at them, while everything moves. */
export const lookAtBooks = async ({ world, tenants }: Pick<Play, 'world' | 'tenants'>): Promise<void> => {
  await operate(world, 'get-books', world.prng.chance(0.5) ? {} : { client_id: world.prng.pick(tenants).clientId })
}

type Ask = <T>(promise: Promise<T>) => Promise<T>

/** Causes of findings by which the provider says something else than the books: until they are resolved. */
const DISPUTED = ['transaction_unexplained', 'reversed_upstream', 'undone_unclear', 'amount_differs', 'fee_changed']

/** Of payments whose row the provider never shows: by what it says, it never settles them. */
const unshownMinor = ({ table, unshownRows }: World, isOwn: (item: RawItem) => boolean): number =>
  table
    .items('PAYMENT#')
    .filter((item) => isOwn(item) && unshownRows.has(text(item, 'credited_provider_payment_id')))
    .filter(({ reversal }) => Object(reversal).wholeAt === undefined)
    .reduce((sum, item) => sum + amount(item, 'net_minor') + amount(item, 'markup_minor'), 0)

/**
 * Received, credited, paid out and what the provider says it settled agree, client by client and over all: but for what
 * the provider says and nobody can explain, which is open in suspense. And so does each settlement's statement.
 */
export const booksProblems = async ({ world, tenants }: Play, ask: Ask): Promise<readonly string[]> => {
  const findings = world.table.items().filter(({ sk, status }) => sk === 'SUSPENSE' && status === 'open')
  const problems: string[] = []
  for (const clientId of [undefined, ...tenants.map((tenant) => tenant.clientId)]) {
    const books = await ask(operate(world, 'get-books', clientId === undefined ? {} : { client_id: clientId }))
    const isOwn = (item: RawItem) => clientId === undefined || item['client_id'] === clientId
    const disputed = findings.some((item) => isOwn(item) && DISPUTED.includes(String(item['cause'])))
    const figures = new Map(
      ((books?.body['figures'] ?? []) as { name: string; amount_minor: number }[]).map((one) => [
        one.name,
        one.amount_minor,
      ]),
    )
    problems.push(...figureProblems(world.table.items(), clientId, figures))
    const unshown = unshownMinor(world, isOwn)
    const differences = ['credited_difference', 'settled_difference']
    const isRight =
      differences.every((name) => figures.get(name) === 0) &&
      (figures.get('provider_overdue') ?? 0) + (figures.get('accepted') ?? 0) === unshown &&
      (unshown !== 0 || books?.body['balanced'] === !disputed)
    if (!isRight) problems.push(`the books of ${clientId ?? 'all'} say ${JSON.stringify(books?.body)}`)
  }
  return [...problems, ...(await statementProblems({ world }, ask))]
}
