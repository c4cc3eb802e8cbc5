import type { Difference } from '../../../shared/verdict/difference.ts'
import { booksOf, captureOf, type RawItem, type Seen, sum } from '../../support/recount/books.ts'
import { problemsOf } from '../../support/recount/invariants.ts'
import { operate } from '../world/lambda.ts'
import { paymentOfReference, rowsOf } from '../world/rows.ts'
import { DAY_MS } from '../world/rules.ts'
import { CALLBACK_TOKEN, PROVIDER_KEY, runUntil, type World } from '../world/world.ts'
import type { Play } from './play.ts'

/** Longer than an event is kept, with the two days by which the table may delete late. */
const AGED_MS = 125 * DAY_MS
/** So late that the event of a redelivery would expire before its round ends. */
const SENT_AGAIN_MS = 40 * DAY_MS

/** Few histories get these months, which are mostly schedules without work. */
export function isAged(seed: number) {
  return seed % 25 === 12
}

/**
 * Months after everything rests, all webhooks have expired. `watch-rows.ts` checks that nothing
 * else has.
 */
export async function agedProblems(play: Play) {
  const { world, tenants } = play
  await world.scheduler.runFor(SENT_AGAIN_MS)
  for (const { clientId } of tenants) {
    const own = rowsOf(world, 'DELIVERY', { client_id: clientId })
    const again = own.length === 0 ? undefined : world.scenePrng.pick(own)['delivery_id']
    if (again !== undefined)
      await runUntil(
        world,
        operate(world, 'redeliver', { client_id: clientId, delivery_id: again }),
      )
  }
  await world.scheduler.runFor(AGED_MS)
  const items = world.table.items()
  const problems = [...world.problems, ...problemsOf(items, seenBy(play))]
  const kept = items.filter(({ pk }) => /^(DELIVERY|EVENT|TEST)#/.test(String(pk)))
  for (const { pk, sk } of kept) problems.push(`${String(pk)} ${String(sk)} is kept for ever`)
  return [...problems, ...(await booksProblems(play))]
}

export function seenBy({ world, tenants, seen }: Play): Seen {
  return {
    webhooks: world.merchants.received,
    secretOfUrl: new Map(
      tenants.flatMap(({ endpoints }) =>
        endpoints.map(({ url, secret }) => [url, secret] as const),
      ),
    ),
    captured: captured(world),
    reversedIds: world.provider
      .transactionRecords()
      .filter(({ row }) => row.type === 'PAYMENT' && row.status !== 'SUCCESS')
      .map(({ row }) => row.product_id)
      .filter((id) => !hasStandingRow(world, id)),
    reversalRowIds: world.reversalRowIds,
    endpointsOfClient: new Map(
      tenants.map(({ clientId, endpoints }) => [
        clientId,
        endpoints.map(({ endpointId }) => endpointId),
      ]),
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
  }
}

/**
 * The captures that the gateway can know of: by a shown row, or by a request that it asks about.
 */
function captured(world: World) {
  const { provider, unshownRows } = world
  const requests = provider.findPaymentRequests('')
  const isAskedFor = (id: string) => {
    const request = requests.find(({ latest_payment_id: latest }) => latest === id)
    const credited = captureOf(paymentOfReference(world, request?.reference_id))
    return request !== undefined && (credited === undefined || credited === id)
  }
  const known = provider
    .capturedPayments()
    .filter(({ id }) => !unshownRows.has(id) || isAskedFor(id))
  return new Map(known.map(({ id, amount }) => [id, amount]))
}

export async function booksProblems({ world, tenants }: Play) {
  const problems = [...houseProblems(world.table.items())]
  await explainConflictingRows(world)
  const whole = [
    ...tenants.map(({ clientId }) => ['audit-ledger', { client_id: clientId }] as const),
    ['get-books', {}] as const,
  ]
  for (const [name, input] of whole) {
    const { body } = (await runUntil(world, operate(world, name, input))) ?? {}
    if (body?.['balanced'] !== true) problems.push(`${name} says ${JSON.stringify(body)}`)
  }
  return problems
}

/**
 * The books are not balanced while a row contradicts itself and no operator has explained it. Only
 * the rows of `conflicting-rows.ts` and `odd-rows.ts` contradict themselves.
 */
async function explainConflictingRows(world: World) {
  if (![...world.tally.keys()].some((what) => /^(conflicting row|odd row booked)/.test(what)))
    return
  const { body } = (await runUntil(world, operate(world, 'get-books', {}))) ?? {}
  for (const { what, id } of (body?.['differences'] ?? []) as readonly Difference[]) {
    if (what !== 'contradicting row') continue
    const explained = { suspense_id: id, resolution: 'explained', notes: 'asked the provider' }
    await runUntil(world, operate(world, 'resolve-suspense', explained))
  }
}

/** Suspense holds what its open items say, and each house entry is in the total of its day. */
function houseProblems(items: readonly RawItem[]) {
  const { houseEntries, suspense } = booksOf(items)
  const held = suspense.filter(
    ({ kind, status, resolution, is_void: isVoid }) =>
      kind === 'money' && isVoid !== true && (status === 'open' || resolution === 'refunded'),
  )
  const settled = held.filter(({ provider_minor: moved }) => moved !== undefined)
  const shown = sum(settled, 'amount_minor') - sum(held, 'refunded_minor')
  const booked = sum(houseEntries, 'suspense_minor')
  const totals = items.filter(({ pk }) => pk === 'HOUSE#totals')
  const wrong = ['provider', 'bank', 'transit', 'suspense', 'cost', 'other']
    .map((side) => `${side}_minor`)
    .filter((name) => sum(totals, name) !== sum(houseEntries, name))
  return [
    ...(shown === booked ? [] : [`suspense holds ${booked}, its open items say ${shown}`]),
    ...wrong.map((name) => `the day totals of the house have another ${name} than its entries`),
  ]
}

/** The void of one of two rows that may be of the same money undoes nothing. */
function hasStandingRow({ provider }: World, captureId: string) {
  const rows = provider
    .transactionRecords()
    .map(({ row }) => row)
    .filter(({ type, product_id }) => type === 'PAYMENT' && product_id === captureId)
  return rows.some(
    (row) =>
      row.status === 'SUCCESS' &&
      row.currency === 'IDR' &&
      row.net_amount_currency === 'IDR' &&
      row.net_amount > 0 &&
      row.net_amount <= row.amount &&
      rows.some(({ status, amount }) => status !== 'SUCCESS' && amount === row.amount),
  )
}
