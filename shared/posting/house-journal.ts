import type { StoreDeps } from '../deps.ts'
import type { Legs } from '../journal/entry.ts'
import { type HouseEntry, newHouseEntry, onOpenDay, putHouseEntry } from '../journal/house-store.ts'
import { less, type Minor, plus, smaller, ZERO } from '../money.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import { reportSuspense, type SuspenseDeps } from '../suspense/record-suspense.ts'
import { heldAmountOf, owedAmountOf, type Suspense } from '../suspense/suspense.ts'
import {
  type BookedChange,
  bookOnSuspense,
  findSuspense,
  putSuspense,
} from '../suspense/suspense-store.ts'

type HouseRow = Pick<HouseEntry, 'transactionId' | 'rowAt' | 'providerMinor'>

export function houseRowOf({
  transactionId,
  createdAt,
  updatedAt,
  providerMinor,
}: ProviderTransaction): HouseRow {
  return { transactionId, rowAt: createdAt ?? updatedAt, providerMinor }
}

/** The row belongs to the house until an operator assigns it. */
export function bookUnmatchedRow(deps: StoreDeps, row: HouseRow) {
  return onOpenDay(deps, (postedAt) =>
    deps.table.transact(putHouseEntry(newHouseEntry({ ...row, type: 'unmatched', postedAt }))),
  )
}

/**
 * Books a row that no payment can take, together with its finding, once. If the finding exists
 * already, only the row is booked.
 */
export async function bookWithFinding(
  deps: StoreDeps & SuspenseDeps,
  row: HouseRow,
  finding: Suspense,
) {
  const outcome = await onOpenDay(deps, (postedAt) => {
    const entry = putHouseEntry(newHouseEntry({ ...row, type: 'unmatched', postedAt }))
    return deps.table.transact({ ...entry, ...putSuspense(finding) })
  })
  if (outcome.applied) await reportSuspense(deps, finding)
  else if (outcome.refusedBy === 'suspense') await bookUnmatchedRow(deps, row)
}

/** The amount moves from the provider's account to our bank, and the house pays the fee. */
export function bookWithdrawal(deps: StoreDeps, row: HouseRow, bankMinor: Minor) {
  return onOpenDay(deps, (postedAt) =>
    deps.table.transact(
      putHouseEntry(newHouseEntry({ ...row, type: 'withdrawal', bankMinor, postedAt })),
    ),
  )
}

/**
 * Books the settled own row of money in suspense: while the item is open, its amount less refunds
 * is held.
 */
export function bookSuspense(
  deps: StoreDeps,
  suspense: Suspense,
  row: HouseRow,
): Promise<Suspense> {
  return bookOnItem(deps, suspense, row, (item) => {
    // A slice may have read the row before the row became void.
    if (item.postedMinor !== undefined || item.isVoid) return undefined
    const suspenseMinor = item.status === 'open' ? owedAmountOf(item) : ZERO
    const set = { postedMinor: suspenseMinor, providerMinor: row.providerMinor }
    return { set, type: 'suspense', suspenseMinor, clientId: item.clientId }
  })
}

/** Other rows of the item, an operator and a second reading of the same row may refuse a try. */
const MAX_TRIES = 5

type Booking = Pick<HouseEntry, 'type' | 'clientId'> &
  Partial<Legs> & { readonly set: BookedChange | undefined }

/**
 * Books a row of money in suspense, once. Answers the item for which the booking was planned;
 * throws when the item kept changing.
 */
async function bookOnItem(
  deps: StoreDeps,
  suspense: Suspense,
  row: HouseRow,
  plan: (item: Suspense) => Booking | undefined,
): Promise<Suspense> {
  let item: Suspense | undefined = suspense
  for (let tried = 0; item !== undefined && tried < MAX_TRIES; tried++) {
    const booking = plan(item)
    if (booking === undefined) return item
    const { set, ...fields } = booking
    const { suspenseId } = item
    const itemStep = set && bookOnSuspense(item, set)
    const outcome = await onOpenDay(deps, (postedAt) => {
      const entry = newHouseEntry({ ...row, postedAt, suspenseId, ...fields })
      return deps.table.transact({ item: itemStep, ...putHouseEntry(entry) })
    })
    if (outcome.applied || outcome.refusedBy === 'houseEntry') return item
    item = await findSuspense(deps, suspense.suspenseId)
  }
  throw new Error('an item in suspense kept changing while its row was booked')
}

const REFUNDED = { status: 'resolved', resolution: 'refunded' } as const

/** The item is resolved when all its money is refunded. */
export function bookSuspenseRefund(
  deps: StoreDeps,
  suspense: Suspense,
  row: HouseRow,
  amountMinor: Minor,
) {
  return bookOnItem(deps, suspense, row, (item) => {
    if (item.status !== 'open') return { set: undefined, type: 'suspense_refunded' }
    const backMinor = smaller(amountMinor, owedAmountOf(item))
    const refundedMinor = plus(item.refundedMinor ?? ZERO, backMinor)
    const set = { refundedMinor, ...(owedAmountOf({ ...item, refundedMinor }) <= 0 && REFUNDED) }
    const suspenseMinor = item.postedMinor === undefined ? ZERO : less(ZERO, backMinor)
    return { set, type: 'suspense_refunded', suspenseMinor }
  })
}

/** The provider takes back what the own row has booked. */
export function bookSuspenseVoid(
  deps: StoreDeps,
  suspense: Suspense,
  row: HouseRow,
): Promise<Suspense> {
  return bookOnItem(deps, suspense, row, (item) => {
    if (item.isVoid) return undefined
    const set = {
      isVoid: true,
      ...(item.status === 'open' && { refundedMinor: item.amountMinor, ...REFUNDED }),
    } as const
    const [providerMinor, suspenseMinor] = [
      less(ZERO, item.providerMinor ?? ZERO),
      less(ZERO, heldAmountOf(item)),
    ]
    return { set, type: 'suspense_refunded', providerMinor, suspenseMinor }
  })
}
