import type { StoreDeps } from '../deps.ts'
import type { Legs } from '../journal/entry.ts'
import { type HouseEntry, newHouseEntry, putHouseEntry } from '../journal/house-store.ts'
import { less, type Minor, plus, smaller, ZERO } from '../money.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { reportSuspense, type SuspenseDeps } from '../suspense/record-suspense.ts'
import { heldOf, owedOf, type Suspense } from '../suspense/suspense.ts'
import { changeSuspense, findSuspense, newSuspense } from '../suspense/suspense-store.ts'

type HouseRow = Pick<HouseEntry, 'transactionId' | 'rowAt' | 'providerMinor'>

export function houseRowOf({
  transactionId,
  createdAt,
  updatedAt,
  providerMinor,
}: ProviderTransaction): HouseRow {
  return { transactionId, rowAt: createdAt ?? updatedAt, providerMinor }
}

/** Books a row without a client, once: it belongs to the house until an operator assigns it. */
export function bookUnmatched(deps: StoreDeps, row: HouseRow) {
  return deps.table.transact(
    putHouseEntry(newHouseEntry({ ...row, type: 'unmatched', postedAt: deps.now() })),
  )
}

/** Books a row that no payment can take, together with its finding, once. The finding may be older than the booking. */
export async function bookWithFinding(
  deps: StoreDeps & SuspenseDeps,
  row: HouseRow,
  noted: Suspense,
) {
  const entry = putHouseEntry(newHouseEntry({ ...row, type: 'unmatched', postedAt: deps.now() }))
  const outcome = await deps.table.transact({ ...entry, suspense: newSuspense(noted) })
  if (outcome.applied) await reportSuspense(deps, noted)
  else if (outcome.refusedBy === 'suspense') await bookUnmatched(deps, row)
}

/** Books a withdrawal: the amount moves from the provider's account to our bank, and the house pays its fee. */
export function bookWithdrawal(deps: StoreDeps, row: HouseRow, bankMinor: Minor) {
  return deps.table.transact(
    putHouseEntry(newHouseEntry({ ...row, type: 'withdrawal', bankMinor, postedAt: deps.now() })),
  )
}

/** Books money in suspense after its own row has settled: what is not refunded is held while the item is open. */
export function bookSuspense(deps: StoreDeps, known: Suspense, row: HouseRow): Promise<Suspense> {
  return bookOnItem(deps, known, row, (item) => {
    // A slice may still hold the row as it was before it became void.
    if (item.postedMinor !== undefined || item.isVoid) return undefined
    const suspenseMinor = item.status === 'open' ? owedOf(item) : ZERO
    const set = { postedMinor: suspenseMinor, providerMinor: row.providerMinor }
    return { set, type: 'suspense', suspenseMinor, clientId: item.clientId }
  })
}

/** Conflicts with rows of one item, an operator and a second reading of the same row. */
const MAX_TRIES = 5

type Booking = Pick<HouseEntry, 'type' | 'clientId'> &
  Partial<Legs> & { readonly set: Partial<Suspense> | undefined }

/** Books a row of money in suspense, once. Answers the item for which it was planned; throws when it kept changing. */
async function bookOnItem(
  deps: StoreDeps,
  known: Suspense,
  row: HouseRow,
  plan: (item: Suspense) => Booking | undefined,
): Promise<Suspense> {
  let item: Suspense | undefined = known
  for (let tried = 0; item !== undefined && tried < MAX_TRIES; tried++) {
    const booking = plan(item)
    if (booking === undefined) return item
    const { set, ...fields } = booking
    const entry = newHouseEntry({
      ...row,
      postedAt: deps.now(),
      suspenseId: item.suspenseId,
      ...fields,
    })
    const outcome = await deps.table.transact({
      item: set && changeSuspense(item, set),
      ...putHouseEntry(entry),
    })
    if (outcome.applied || outcome.refusedBy === 'houseEntry') return item
    item = await findSuspense(deps, known.suspenseId)
  }
  throw new Error('an item in suspense kept changing while its row was booked')
}

const REFUNDED = { status: 'resolved', resolution: 'refunded' } as const

/** Books a refund of money in suspense, once for each row. The item is resolved when nothing is left. */
export function bookSuspenseRefund(
  deps: StoreDeps,
  known: Suspense,
  row: HouseRow,
  amountMinor: Minor,
) {
  return bookOnItem(deps, known, row, (item) => {
    if (item.status !== 'open') return { set: undefined, type: 'suspense_refunded' }
    const backMinor = smaller(amountMinor, owedOf(item))
    const refundedMinor = plus(item.refundedMinor ?? ZERO, backMinor)
    const set = { refundedMinor, ...(owedOf({ ...item, refundedMinor }) <= 0 && REFUNDED) }
    const suspenseMinor = item.postedMinor === undefined ? ZERO : less(ZERO, backMinor)
    return { set, type: 'suspense_refunded', suspenseMinor }
  })
}

/** Books that the own row of money in suspense is void, once: the provider takes back what the row has booked. */
export function bookSuspenseVoid(
  deps: StoreDeps,
  known: Suspense,
  row: HouseRow,
): Promise<Suspense> {
  return bookOnItem(deps, known, row, (item) => {
    if (item.isVoid) return undefined
    const set = {
      isVoid: true,
      ...(item.status === 'open' && { refundedMinor: item.amountMinor, ...REFUNDED }),
    } as const
    const [providerMinor, suspenseMinor] = [
      less(ZERO, item.providerMinor ?? ZERO),
      less(ZERO, heldOf(item)),
    ]
    return { set, type: 'suspense_refunded', providerMinor, suspenseMinor }
  })
}
