import { mapInChunks } from '../chunks.ts'
import type { TableDeps } from '../deps.ts'
import { readRows } from '../if-valid.ts'
import { bookedRow } from '../journal/house-store.ts'
import type { Minor } from '../money.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { isUnfinished, SyncJobSchema } from '../sync/job-store.ts'
import { findMovement, isInRupiah } from '../sync/provider-row.ts'
import type { Item } from '../table/attributes.ts'
import { rowKeysOf } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'

const PAGE = 500
const SIDE_BY_SIDE = 8

/**
 * What undecided rows have moved at the provider: the sync checks each of them again by a job, for
 * example until its fee is final. By row, or by job if the job cannot be read: then the amount is
 * missing.
 */
export async function openRows(deps: TableDeps): Promise<ReadonlyMap<string, Minor | undefined>> {
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
async function isMissing(deps: TableDeps, transaction: ProviderTransaction): Promise<boolean> {
  const { type, status, transactionId, createdAt, updatedAt } = transaction
  if (type === 'payment' || status !== 'success' || !isInRupiah(transaction)) return false
  if (await findMovement(deps, transaction)) return false
  const booked = await bookedRow(deps, { transactionId, rowAt: createdAt ?? updatedAt })
  return Object.keys(booked).length === 0
}
