import type { StoreDeps } from '../../deps.ts'
import { countOf } from '../../ledger/ledger-store.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../payment-status.ts'
import type { Item } from '../../table/attributes.ts'
import { ownersOf } from '../../table/keys.ts'
import { type Difference, differs } from '../../verdict/difference.ts'
import type { ClientBooks } from './client-books.ts'

/** Keys that one query counts; DynamoDB ends a page at 1 MB. */
const PAGE = 5_000

const countOwner = async (deps: StoreDeps, owner: string, status: PaymentStatus): Promise<number> => {
  let count = 0
  let cursor: Item | undefined
  do {
    const page = await deps.table.query({
      index: 'by-status',
      partition: [owner, 'payment', status],
      limit: PAGE,
      countOnly: true,
      ...(cursor && { cursor }),
    })
    count += page.count
    cursor = page.cursor
  } while (cursor)
  return count
}

/** Compares the counts of the shards with the payments that the index lists in each status. */
export const auditCounts = async (
  deps: StoreDeps,
  { clientId, parts, ledger }: ClientBooks,
): Promise<readonly Difference[]> => {
  if (ledger === undefined) return []
  const counted = await Promise.all(
    PAYMENT_STATUSES.map(async (status) => {
      const counts = await Promise.all(ownersOf(clientId, parts).map((owner) => countOwner(deps, owner, status)))
      const expected = counts.reduce((sum, count) => sum + count, 0)
      return differs(`ledger.count_${status}`, clientId, expected, countOf(ledger, status))
    }),
  )
  return counted.flat()
}
