import type { Transaction } from '../../../infra/local/provider-simulator/provider-objects.ts'
import type { TransactionRecord } from '../../../infra/local/provider-simulator/simulator-store.ts'
import { booksOf, captureOf, type RawItem, text } from '../../support/recount/books.ts'
import { paymentRow } from '../world/rows.ts'
import { DAY_MS } from '../world/rules.ts'
import { count } from '../world/tally.ts'
import type { World } from '../world/world.ts'

/** The second net reads a row that was shown late within this time. */
export const FOUND_MS = 3 * DAY_MS

/**
 * Every row that moves money, and that the provider has shown for three days, is an entry, an item
 * or a finding. Each entry by a row names a row that the provider booked, once. Money that goes
 * back from a credited payment is that payment's, however its row names it. Holds three days after
 * the last fault.
 */
export function rowProblems(world: World) {
  const books = booksOf(world.table.items())
  const entries = [
    ...books.houseEntries.map((entry) => [
      text(entry, 'transaction_id'),
      `house ${text(entry, 'type')}`,
    ]),
    ...books.entries.map((entry) => [text(entry, 'provider_transaction_id'), text(entry, 'type')]),
  ].filter(([id = '']) => id.startsWith('txn_'))
  const booked = new Set(entries.map(([id]) => id))
  const records = world.provider.transactionRecords()
  const isNamed = namedBy(world, books)
  const moving = records.filter((record) => isShownLong(world, record) && movesMoney(record.row))
  const lost = moving.filter(({ id, row }) => !booked.has(id) && !isNamed(row))
  const strayed = moving.filter((record) => hasStrayed(world, books, record))
  count(world.tally, 'rows held against the books')
  const ids = new Set(records.flatMap(({ id, duplicateId }) => [id, duplicateId]))
  const times = Map.groupBy(entries, ([id, type]) => `${id} as ${type}`)
  return [
    ...lost.map(({ row }) => `${row.type} ${row.id} is neither an entry, an item nor a finding`),
    ...strayed.map(({ row }) => `${row.type} ${row.id} has not reached its payment`),
    ...[...times].flatMap(([name, { length }]) => (length > 1 ? [`${name} is booked twice`] : [])),
    // The house books under keys of their own: the void of a row beyond a payment's fifty
    // movements, and a fee that becomes final after its row was booked.
    ...[...booked].flatMap((id = '') =>
      ids.has(id.replace(/#(void|fee)$/, '')) ? [] : [`an entry names the unknown row ${id}`],
    ),
  ]
}

function isShownLong(world: World, { row, missing, shownAtMs = 0 }: TransactionRecord) {
  const sinceMs = Math.max(shownAtMs, Date.parse(row.updated))
  return !missing && sinceMs <= world.scheduler.nowMs() - FOUND_MS
}

/**
 * Its capture is credited, and neither this payment nor a finding about it has the row. A row that
 * names only a request with two captures may be about the capture that is held.
 */
function hasStrayed(
  world: World,
  { payments, suspense, houseEntries }: ReturnType<typeof booksOf>,
  { row, paymentId: capture }: TransactionRecord,
) {
  if (capture === undefined) return false
  const credited = payments.find((one) => captureOf(one) === capture)
  if (credited === undefined) return false
  const paymentId = text(credited, 'payment_id')
  const movements = (paymentRow(world, paymentId)?.['movements'] ?? []) as readonly RawItem[]
  const isMoved = movements.some((one) => text(one, 'transactionId') === row.id)
  const isTold = suspense.some(
    (item) =>
      text(item, 'suspense_id').startsWith(row.id) && text(item, 'payment_id') === paymentId,
  )
  const isOfHeld = houseEntries.some(
    (entry) =>
      text(entry, 'transaction_id') === row.id && text(entry, 'type') === 'suspense_refunded',
  )
  return !isMoved && !isTold && !isOfHeld
}

function movesMoney({ type, status, settlement_status: settlement }: Transaction) {
  return status === 'SUCCESS' && (type !== 'PAYMENT' || settlement === 'SETTLED')
}

/**
 * Whether an item or a finding names the row, or a payment's list of movements. A payment takes one
 * row of its capture; the others are second rows.
 */
function namedBy(world: World, { suspense, entries }: ReturnType<typeof booksOf>) {
  const items = suspense.map((item) => text(item, 'suspense_id'))
  const aboutPayments = new Set(suspense.map((item) => text(item, 'payment_id')))
  const posted = new Set(
    entries
      .filter((entry) => text(entry, 'provider_transaction_id') !== '')
      .map((entry) => text(entry, 'payment_id')),
  )
  return ({ id, product_id: product, reference_id: reference }: Transaction) => {
    const paymentId = reference.slice(0, 36)
    const payment = paymentRow(world, paymentId) ?? {}
    const movements = (payment['movements'] ?? []) as readonly RawItem[]
    if (movements.some((one) => text(one, 'transactionId') === id)) return true
    if (items.some((item) => item.startsWith(id) || (product !== '' && item === product)))
      return true
    if (captureOf(payment) !== product) return false
    return posted.has(paymentId) || aboutPayments.has(paymentId)
  }
}
