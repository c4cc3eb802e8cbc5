import { type Books, booksOf, clientOf, type RawItem, type Seen, sum, text } from '../../support/recount/books.ts'
import { problemsOf } from '../../support/recount/invariants.ts'
import { lookUp, operate } from '../world/lambda.ts'
import { paymentOfReference, rowsOf } from '../world/rows.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY, runUntil, type World } from '../world/world.ts'
import type { Play } from './operations.ts'

const DAY_MS = 86_400_000
/** Longer than an event is kept, with the two days by which the table may delete late. */
const AGED_MS = 125 * DAY_MS
/** So late that the event of a redelivery would expire before its round ends. */
const SENT_AGAIN_MS = 40 * DAY_MS
const AGED_EVERY = 25
const AGED_AT = 12

/** Few histories get these months, which are mostly schedules without work. */
export const isAged = (seed: number): boolean => seed % AGED_EVERY === AGED_AT

/** Months after everything rests, all webhooks have expired. `watch-rows.ts` checks that nothing else has. */
export const agedProblems = async (play: Play): Promise<readonly string[]> => {
  const { world, tenants } = play
  await world.scheduler.runFor(SENT_AGAIN_MS)
  for (const { clientId } of tenants) {
    const own = rowsOf(world, 'DELIVERY', { client_id: clientId })
    const again = own.length === 0 ? undefined : world.scenePrng.pick(own)['delivery_id']
    if (again !== undefined)
      await runUntil(world, operate(world, 'redeliver', { client_id: clientId, delivery_id: again }))
  }
  await world.scheduler.runFor(AGED_MS)
  const items = world.table.items()
  const problems = [...world.problems, ...problemsOf(items, seenBy(play))]
  const kept = items.filter(({ sk }) => /^(DELIVERY$|ATTEMPT#|EVENT#)/.test(String(sk)))
  for (const { pk, sk } of kept) problems.push(`${String(pk)} ${String(sk)} is kept for ever`)
  return [...problems, ...(await booksProblems(play))]
}

/** The captures that the gateway can know of: by a shown row, or by a request that it asks about. */
const captured = (world: World): ReadonlyMap<string, number> => {
  const { provider, unshownRows } = world
  const requests = provider.findPaymentRequests('')
  const isAskedFor = (id: string): boolean => {
    const request = requests.find(({ latest_payment_id: latest }) => latest === id)
    const credited = paymentOfReference(world, request?.reference_id)?.['credited_provider_payment_id']
    return request !== undefined && (credited === undefined || credited === id)
  }
  const known = provider.capturedPayments().filter(({ id }) => !unshownRows.has(id) || isAskedFor(id))
  return new Map(known.map(({ id, amount }) => [id, amount]))
}

export const seenBy = ({ world, tenants, seen }: Play): Seen => ({
  webhooks: world.merchants.received,
  secretOfUrl: new Map(tenants.flatMap(({ endpoints }) => endpoints.map(({ url, secret }) => [url, secret] as const))),
  captured: captured(world),
  turned: world.provider.reversedPayments(),
  reversalRowIds: world.reversalRowIds,
  endpointsOfClient: new Map(
    tenants.map(({ clientId, endpoints }) => [clientId, endpoints.map(({ endpointId }) => endpointId)]),
  ),
  destinationsOfKey: seen.destinations,
  paymentsOfKey: seen.paymentsOfKey,
  logLines: world.logLines,
  digestBlock: world.historySteps.block,
  confidential: [
    PROVIDER_KEY,
    CALLBACK_TOKEN,
    ...tenants.flatMap(({ apiKey, formerKeys, personal, endpoints }) => [
      apiKey,
      ...formerKeys,
      ...Object.values(personal),
      ...endpoints.map(({ secret }) => secret),
    ]),
  ],
})

/** Before the first payment of every history. */
const FROM = { from: '2026-01-01' }

/** At rest: each client's audit finds nothing, and its books and those of all are what the raw items say. */
export const booksProblems = async ({ world, tenants }: Play): Promise<readonly string[]> => {
  const audits: string[] = []
  for (const { clientId } of tenants) {
    const audit = await runUntil(world, lookUp(world, 'audit-ledger', { client_id: clientId }))
    if (audit?.body['balanced'] !== true) audits.push(`the audit says ${JSON.stringify(audit?.body)}`)
  }
  const items = world.table.items()
  const books = booksOf(items)
  const problems: string[] = [...audits, ...houseProblems(items, books)]
  for (const clientId of [undefined, ...tenants.map((tenant) => tenant.clientId)]) {
    const of = clientId === undefined ? {} : { client_id: clientId }
    const { body = {} } = (await runUntil(world, lookUp(world, 'get-books', { ...FROM, ...of }))) ?? {}
    const figures = (body['figures'] ?? []) as readonly { readonly name: string; readonly amount_minor: number }[]
    const shown = new Map(figures.map((one) => [one.name, one.amount_minor]))
    problems.push(...figureProblems(books, clientId, shown))
    if (body['balanced'] !== true) problems.push(`the books of ${clientId ?? 'all'} say ${JSON.stringify(body)}`)
  }
  return problems
}

type Figures = ReadonlyMap<string, number>

const lossOf = (entries: readonly RawItem[]): number => sum(entries, 'markup_minor') - sum(entries, 'house_minor')

const net = (items: readonly RawItem[]): number => sum(items, 'net_minor')

/** The balance of each client: its entries less its payouts. */
const balancesOf = (entries: readonly RawItem[], paid: readonly RawItem[]): readonly number[] => {
  const clients = new Set(entries.map(clientOf))
  return [...clients].map(
    (client) =>
      net(entries.filter((entry) => clientOf(entry) === client)) -
      net(paid.filter((settlement) => settlement['client_id'] === client)),
  )
}

/** The figures of the books by the raw items alone: of one client, or of all clients with the house. */
const figuresOf = (books: Books, clientId: string | undefined): Figures => {
  const isOwn = (client: unknown) => clientId === undefined || client === clientId
  const own = books.entries.filter((entry) => isOwn(clientOf(entry)) && entry['type'] !== 'recredit')
  const house = clientId === undefined ? books.houseEntries : []
  const paid = books.settlements.filter(({ client_id: client, status }) => isOwn(client) && status === 'manual_paid')
  const payments = own.filter(({ type }) => type === 'payment')
  const all = [...own, ...house]
  const grossOf = (...types: readonly string[]) => {
    const some = own.filter((entry) => types.includes(text(entry, 'type')))
    return sum(some, 'gross_minor')
  }
  const balances = balancesOf(own, paid)
  const paidOut = sum(paid, 'net_minor')
  return new Map([
    ...[...Map.groupBy(payments, (entry) => text(entry, 'method'))].map(
      ([method, some]) => [`taken_in.${method}`, sum(some, 'gross_minor')] as const,
    ),
    ...[...Map.groupBy(all, (entry) => text(entry, 'type'))].map(
      ([type, some]) => [`loss.${type}`, lossOf(some)] as const,
    ),
    ['fees', sum(own, 'fee_minor')],
    ['markup', sum(own, 'markup_minor')],
    ['taken_back', -grossOf('refund', 'chargeback', 'reversal')],
    ['given_back', grossOf('dispute_won')],
    ['paid_out', paidOut],
    ['owed_to_clients', balances.filter((minor) => minor > 0).reduce((total, minor) => total + minor, 0)],
    ['owed_by_clients', -balances.filter((minor) => minor < 0).reduce((total, minor) => total + minor, 0)],
    ['in_suspense', sum(house, 'suspense_minor')],
    ['at_provider', sum(all, 'provider_minor')],
    ['at_bank', sum(all, 'bank_minor') - paidOut],
    ['clients', sum(own, 'net_minor') - paidOut],
    ['house', sum(all, 'house_minor')],
  ])
}

/** Figures that get-books shows with another value, or not at all. */
const figureProblems = (books: Books, clientId: string | undefined, shown: Figures): readonly string[] => {
  const expected = figuresOf(books, clientId)
  const who = clientId ?? 'all'
  return [
    ...[...shown]
      .filter(([name, minor]) => minor !== (expected.get(name) ?? 0))
      .map(([name, minor]) => `${who}: ${name} is shown as ${minor}, is ${expected.get(name) ?? 0}`),
    ...[...expected.keys()].filter((name) => !shown.has(name)).map((name) => `${who}: ${name} is not shown`),
  ]
}

/** Suspense holds what its open items say, and each house entry is in the total of its day. */
const houseProblems = (items: readonly RawItem[], { houseEntries, suspense }: Books): readonly string[] => {
  const held = suspense.filter(
    ({ kind, status, posted_minor: posted }) => kind === 'money' && status === 'open' && posted !== undefined,
  )
  const shown = sum(held, 'amount_minor') - sum(held, 'refunded_minor')
  const booked = sum(houseEntries, 'suspense_minor')
  const totals = items.filter(({ pk }) => pk === 'HOUSE#totals')
  const wrong = ['provider_minor', 'bank_minor', 'suspense_minor', 'house_minor'].filter(
    (name) => sum(totals, name) !== sum(houseEntries, name),
  )
  return [
    ...(shown === booked ? [] : [`suspense holds ${booked}, its open items say ${shown}`]),
    ...wrong.map((name) => `the day totals of the house have another ${name} than its entries`),
  ]
}
