import type { Deps, StoreDeps } from '../deps.ts'
import { newHouseEntry } from '../journal/house-entry.ts'
import { putHouseEntry } from '../journal/house-store.ts'
import { less, type Minor, ZERO } from '../money.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { logSuspense, publishSuspenseAlert } from '../suspense/record-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'
import { newSuspense, notePosted, noteRefunded } from '../suspense/suspense-store.ts'
import type { Timestamp } from '../time.ts'

type TellDeps = Pick<Deps, 'table' | 'now' | 'log' | 'alerts'>

/** A provider row, as far as the house journal keeps it. */
export type HouseRow = {
  readonly transactionId: string
  readonly rowAt: Timestamp
  readonly providerMinor: Minor
}

export const houseRowOf = ({ transactionId, createdAt, updatedAt, providerMinor }: ProviderTransaction): HouseRow => ({
  transactionId,
  rowAt: createdAt ?? updatedAt,
  providerMinor,
})

/** Books a row that is nobody's of ours, once: it is the house's until a person says whose it is. */
export const bookUnmatched = async (deps: StoreDeps, row: HouseRow): Promise<void> => {
  await deps.table.transact(putHouseEntry(newHouseEntry({ type: 'unmatched', ...row, postedAt: deps.now() })))
}

/** Books a row that no payment may take any more, with the finding about it: both or none, once. */
export const bookBeyond = async (deps: TellDeps, row: HouseRow, noted: Suspense): Promise<void> => {
  const entry = newHouseEntry({ type: 'unmatched', ...row, postedAt: deps.now() })
  const { applied } = await deps.table.transact({ ...putHouseEntry(entry), suspense: newSuspense(noted) })
  if (!applied) return
  logSuspense(deps, noted)
  await publishSuspenseAlert(deps, noted)
}

/** Books a withdrawal: what left the provider's account reached our bank, and the fee of it is the house's. */
export const bookWithdrawal = async (deps: StoreDeps, row: HouseRow, amountMinor: Minor): Promise<void> => {
  const entry = newHouseEntry({ type: 'withdrawal', ...row, bankMinor: amountMinor, postedAt: deps.now() })
  await deps.table.transact(putHouseEntry(entry))
}

/** Books money in suspense once its own row has settled: what was paid is held, and the fee of it is the house's. */
export const bookSuspense = async (deps: StoreDeps, item: Suspense, row: HouseRow): Promise<void> => {
  const { suspenseId, amountMinor = ZERO, postedMinor } = item
  if (item.kind !== 'money' || postedMinor !== undefined) return
  const entry = newHouseEntry({
    type: 'suspense',
    ...row,
    suspenseMinor: amountMinor,
    suspenseId,
    clientId: item.clientId,
    postedAt: deps.now(),
  })
  await deps.table.transact({ item: notePosted(suspenseId, amountMinor), ...putHouseEntry(entry) })
}

const smaller = (a: Minor, b: Minor): Minor => (a < b ? a : b)

/** Books a refund or a void of money in suspense: the item is resolved, and nothing of it is held any more. */
export const bookSuspenseRefund = async (
  deps: StoreDeps,
  item: Suspense,
  { row, amountMinor }: { readonly row: HouseRow; readonly amountMinor: Minor },
): Promise<void> => {
  const { suspenseId, postedMinor = ZERO } = item
  const entry = newHouseEntry({
    type: 'suspense_refunded',
    ...row,
    suspenseMinor: item.status === 'open' ? less(ZERO, smaller(amountMinor, postedMinor)) : ZERO,
    suspenseId,
    postedAt: deps.now(),
  })
  await deps.table.transact({
    item: item.status === 'open' ? noteRefunded(item) : undefined,
    ...putHouseEntry(entry),
  })
}
