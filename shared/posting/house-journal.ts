import type { Deps, StoreDeps } from '../deps.ts'
import { type HouseEntry, type HouseEntryType, newHouseEntry, putHouseEntry } from '../journal/house-store.ts'
import { less, type Minor, plus, smaller, ZERO } from '../money.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { reportSuspense, type SuspenseDeps } from '../suspense/record-suspense.ts'
import { heldOf, owedOf, type Suspense } from '../suspense/suspense.ts'
import { changeSuspense, findSuspense, newSuspense } from '../suspense/suspense-store.ts'
import type { Step } from '../table/step.ts'

type HouseRow = Pick<HouseEntry, 'transactionId' | 'rowAt' | 'providerMinor'>

type ProviderRow = Pick<ProviderTransaction, 'transactionId' | 'createdAt' | 'updatedAt' | 'providerMinor'>

export const houseRowOf = ({ transactionId, createdAt, updatedAt, providerMinor }: ProviderRow): HouseRow => ({
  transactionId,
  rowAt: createdAt ?? updatedAt,
  providerMinor,
})

const entryOf = (
  { now }: Pick<Deps, 'now'>,
  type: HouseEntryType,
  row: HouseRow,
  fields: Partial<HouseEntry> = {},
): HouseEntry => newHouseEntry({ type, ...row, postedAt: now(), ...fields })

/** Books a row without a client, once: it belongs to the house until an operator assigns it. */
export const bookUnmatched = (deps: StoreDeps, row: HouseRow) =>
  deps.table.transact(putHouseEntry(entryOf(deps, 'unmatched', row)))

/** Books a row that no payment can take, together with its finding, once. The finding may be older than the booking. */
export const bookWithFinding = async (
  deps: StoreDeps & SuspenseDeps,
  row: HouseRow,
  noted: Suspense,
): Promise<void> => {
  const entry = putHouseEntry(entryOf(deps, 'unmatched', row))
  const outcome = await deps.table.transact({ ...entry, suspense: newSuspense(noted) })
  if (outcome.applied) await reportSuspense(deps, noted)
  else if (outcome.refusedBy === 'suspense') await bookUnmatched(deps, row)
}

/** Books a withdrawal: the amount moves from the provider's account to our bank, and the house pays its fee. */
export const bookWithdrawal = (deps: StoreDeps, row: HouseRow, bankMinor: Minor) =>
  deps.table.transact(putHouseEntry(entryOf(deps, 'withdrawal', row, { bankMinor })))

/** Conflicts with rows of one item, an operator and a second reading of the same row. */
const MAX_TRIES = 5

/** Books a row of money in suspense, once. Answers the item for which it was planned; throws when it kept changing. */
const bookOnItem = async (
  deps: StoreDeps,
  known: Suspense,
  plan: (item: Suspense) => { readonly item: Step | undefined; readonly entry: HouseEntry } | undefined,
): Promise<Suspense> => {
  let item: Suspense | undefined = known
  for (let tried = 0; item !== undefined && tried < MAX_TRIES; tried++) {
    const booking = plan(item)
    if (booking === undefined) return item
    const outcome = await deps.table.transact({ item: booking.item, ...putHouseEntry(booking.entry) })
    if (outcome.applied || outcome.refusedBy === 'houseEntry') return item
    item = await findSuspense(deps, known.suspenseId)
  }
  throw new Error('an item in suspense kept changing while its row was booked')
}

/** Books money in suspense after its own row has settled: what is not refunded is held while the item is open. */
export const bookSuspense = (deps: StoreDeps, known: Suspense, row: HouseRow): Promise<Suspense> =>
  bookOnItem(deps, known, (item) => {
    // A slice may still hold the row as it was before it became void.
    if (item.postedMinor !== undefined || item.isVoid) return undefined
    const { suspenseId, clientId } = item
    const suspenseMinor = item.status === 'open' ? owedOf(item) : ZERO
    const entry = entryOf(deps, 'suspense', row, { suspenseMinor, suspenseId, clientId })
    return { item: changeSuspense(item, { postedMinor: suspenseMinor, providerMinor: row.providerMinor }), entry }
  })

const REFUNDED = { status: 'resolved', resolution: 'refunded' } as const

/** Books a refund of money in suspense, once for each row. The item is resolved when nothing is left. */
export const bookSuspenseRefund = (
  deps: StoreDeps,
  known: Suspense,
  row: HouseRow,
  amountMinor: Minor,
): Promise<Suspense> =>
  bookOnItem(deps, known, (item) => {
    const backMinor = item.status === 'open' ? smaller(amountMinor, owedOf(item)) : ZERO
    const suspenseMinor = item.postedMinor === undefined ? ZERO : less(ZERO, backMinor)
    const entry = entryOf(deps, 'suspense_refunded', row, { suspenseMinor, suspenseId: item.suspenseId })
    if (item.status !== 'open') return { item: undefined, entry }
    const refundedMinor = plus(item.refundedMinor ?? ZERO, backMinor)
    const isWhole = owedOf({ ...item, refundedMinor }) <= 0
    return { item: changeSuspense(item, { refundedMinor, ...(isWhole && REFUNDED) }), entry }
  })

/** Books that the own row of money in suspense is void, once: the provider takes back what it has booked, all of it. */
export const bookSuspenseVoid = (deps: StoreDeps, known: Suspense, row: HouseRow): Promise<Suspense> =>
  bookOnItem(deps, known, (item) => {
    if (item.isVoid) return undefined
    const [providerMinor, suspenseMinor] = [less(ZERO, item.providerMinor ?? ZERO), less(ZERO, heldOf(item))]
    const taken = { providerMinor, suspenseMinor, suspenseId: item.suspenseId }
    const closed = item.status === 'open' && { refundedMinor: item.amountMinor, ...REFUNDED }
    const entry = entryOf(deps, 'suspense_refunded', row, taken)
    return { item: changeSuspense(item, { isVoid: true, ...closed }), entry }
  })
