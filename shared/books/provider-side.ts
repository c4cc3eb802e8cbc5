import { chunks, mapInChunks } from '../chunks.ts'
import { type Registered, walkClients } from '../client/client-register.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { type ClientId, type PaymentId, PaymentIdSchema } from '../ids.ts'
import { ifValid, readRows } from '../if-valid.ts'
import { bookDay } from '../journal/day-totals.ts'
import { bookingsOf, houseTotals } from '../journal/house-store.ts'
import { type Minor, minor } from '../money.ts'
import { findPaymentsByKey } from '../payment/payment-store.ts'
import { isInRupiah, type ProviderTransaction } from '../provider/provider.ts'
import { MOVED_CAUSES, SuspenseSchema } from '../suspense/suspense.ts'
import { isUnfinished, SyncJobSchema } from '../sync/job-store.ts'
import { findMovementFinding } from '../sync/provider-row.ts'
import type { Item } from '../table/attributes.ts'
import { rowKeysOf } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { addMs, END_OF_TIME, earlier, HOUR_MS, type Timestamp, TimestampSchema } from '../time.ts'
import type { Look } from './balance-store.ts'
import { readClientBook } from './client-book.ts'

type LookDeps = Pick<Deps, 'table' | 'stage' | 'now' | 'monotonicMs'>

const SIDE_BY_SIDE = 8

/**
 * What is at the provider: by the journal, and by rows that were read and wait for their payment or
 * for a decision. The amount of a row that cannot be read is missing, which is a gap; books and
 * audit name the row. A run that has no more time answers the look as far as it went; the next run
 * continues it. So the clients of one look may be read at different moments.
 */
export async function providerSide(deps: LookDeps, begun: Look) {
  const today = bookDay(deps.now())
  let look = begun
  const readOne = async ({ clientId }: Registered) => {
    const oldest = await oldestOpenAt(deps, clientId)
    const { book } = await readClientBook(deps, clientId, { from: today, to: today })
    return { oldest, providerMinor: book['at_provider'] ?? 0 }
  }
  const read = async (clients: readonly Registered[]) => {
    for (const { oldest, providerMinor } of await mapInChunks(clients, SIDE_BY_SIDE, readOne)) {
      const sumMinor = withAmount(look.sumMinor, providerMinor)
      const since = look.openSince ?? oldest
      look = { ...look, sumMinor, openSince: since && earlier(since, oldest ?? since) }
    }
  }
  const position = await walkClients(deps, begun.position, { read })
  if (position) return { look: { ...look, position } }
  const rows = await waitingRows(deps, look.openSince)
  const open = await openRows(deps)
  const openMinor = [...open.values()].reduce<number>((sum, moved) => sum + (moved ?? 0), 0)
  const { rows: totals } = await houseTotals(deps, { fromDay: '0', untilDay: today })
  const houseMinor = totals.reduce((sum, { providerMinor }) => sum + providerMinor, 0)
  return {
    minor: [rows.sum, openMinor, houseMinor].reduce(withAmount, look.sumMinor),
    /** Payments whose rows wait, rows that wait by themselves, and their unreadable jobs. */
    waiting: [...rows.waiting, ...open.keys()].slice(0, MAX_NAMED),
  }
}

/** Half of the range of money: the gap to such a sum is an amount too. */
const MAX_SUM = 2 ** 52

/** An amount that only an altered row can have is missing, as if the row could not be read. */
function withAmount(sumMinor: Minor, amount: number) {
  const sum = sumMinor + amount
  return Math.abs(sum) > MAX_SUM ? sumMinor : minor(sum)
}

async function oldestOpenAt(deps: TableDeps, clientId: ClientId) {
  const { items } = await deps.table.query({ index: 'by-open', partition: [clientId], limit: 1 })
  return ifValid(TimestampSchema, items[0]?.['openAt'])
}

const PAGE = 500
const MAX_NAMED = 20
const CONTRADICTS = 'row_contradicts'
/** Each finding of these causes is written with a row that waits. */
const ROW_CAUSES = [CONTRADICTS, ...MOVED_CAUSES]

/**
 * Rows that wait for the posting of their payment: noted on open payments, and own rows that
 * contradict themselves before their seventh day. Each such row has a finding that is younger than
 * its payment. So the reads follow the findings since the oldest open payment, and not the number
 * of open payments.
 */
async function waitingRows(deps: TableDeps, openSince: Timestamp | undefined) {
  const waiting: string[] = []
  let sum = 0
  const contradicting = await findingsByPayment(deps, openSince)
  for (const ids of chunks([...contradicting.keys()], PAGE)) {
    for (const { paymentId, openAt, movements } of await findPaymentsByKey(deps, ids)) {
      if (openAt === undefined) continue
      const noted = movements.reduce((total, one) => total + one.providerMinor, 0)
      const waits = noted + (contradicting.get(paymentId) ?? 0)
      if (waits !== 0) waiting.push(paymentId)
      sum += waits
    }
  }
  return { sum, waiting }
}

async function findingsByPayment(deps: TableDeps, openSince: Timestamp | undefined) {
  const byPayment = new Map<PaymentId, number>()
  if (openSince === undefined) return byPayment
  // Two clocks may differ.
  const range = { between: [addMs(openSince, -HOUR_MS), END_OF_TIME] } as const
  const partition = [GATEWAY_OWNER, 'suspense'] as const
  for await (const { items } of queryPages(deps, {
    index: 'by-owner',
    partition,
    range,
    limit: PAGE,
  })) {
    const ofRows = items.filter(({ id }) =>
      ROW_CAUSES.some((cause) => String(id).endsWith(`#${cause}`)),
    )
    const stored = await deps.table.getMany(rowKeysOf('SUSPENSE', ofRows))
    for (const item of stored) {
      const finding = ifValid(SuspenseSchema, item)
      const paymentId = ifValid(PaymentIdSchema, finding?.paymentId)
      if (finding === undefined || paymentId === undefined) continue
      const isOwnRow = finding.suspenseId === `${paymentId}#${CONTRADICTS}`
      const movedMinor = isOwnRow ? (finding.providerMinor ?? 0) : 0
      byPayment.set(paymentId, (byPayment.get(paymentId) ?? 0) + movedMinor)
    }
  }
  return byPayment
}

/**
 * What undecided rows have moved at the provider: the sync checks each of them again by a job, for
 * example until its fee is final. By row, or by job if the job cannot be read: then the amount is
 * missing.
 */
async function openRows(deps: TableDeps) {
  const movedById = new Map<string, Minor | undefined>()
  for await (const { items } of queryPages(deps, {
    index: 'by-due',
    partition: ['sync', 0],
    limit: PAGE,
  })) {
    const { transactions, unreadableIds } = await openTransactions(deps, items)
    for (const id of unreadableIds) movedById.set(id, undefined)
    await mapInChunks(transactions, SIDE_BY_SIDE, async (transaction) => {
      const { transactionId, providerMinor } = transaction
      if (await isMissing(deps, transaction)) movedById.set(transactionId, providerMinor)
    })
  }
  return movedById
}

async function openTransactions(deps: TableDeps, items: readonly Item[]) {
  const due = items.filter(({ id }) => String(id).startsWith('open#'))
  const jobs = await deps.table.getMany(rowKeysOf('SYNC', due))
  const unfinished = jobs.filter((job): job is Item => isUnfinished(job))
  const { rows, unreadableIds } = readRows(SyncJobSchema, unfinished)
  const transactions = rows.flatMap((job) => (job.kind === 'open' ? job.transaction : []))
  return { transactions, unreadableIds }
}

/**
 * The row has moved rupiah, and no book has it. A job may keep an older form of a row for days
 * after a later form was booked. The own row of a payment moves nothing before it settles.
 */
async function isMissing(deps: TableDeps, transaction: ProviderTransaction) {
  const { type, status, transactionId, createdAt: rowAt } = transaction
  if (type === 'payment' || status !== 'success' || !isInRupiah(transaction)) return false
  if (await findMovementFinding(deps, transaction)) return false
  const booked = await bookingsOf(deps, { transactionId, rowAt })
  return Object.keys(booked).length === 0
}
