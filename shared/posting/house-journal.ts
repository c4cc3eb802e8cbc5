import type { StoreDeps } from '../deps.ts'
import type { Legs } from '../journal/entry.ts'
import {
  bookEntryBack,
  bookingsOf,
  type HouseEntry,
  newHouseEntry,
  onOpenDay,
} from '../journal/house-store.ts'
import {
  suspenseLegs,
  suspenseRefundLegs,
  suspenseRefundVoidLegs,
  suspenseVoidLegs,
  transferLegs,
  unmatchedLegs,
} from '../journal/legs.ts'
import { less, type Minor, negated, plus, smaller, ZERO } from '../money.ts'
import { type HeldDeps, withShownMoney } from '../payment/held-money.ts'
import type { ProviderTransaction } from '../provider/provider.ts'
import {
  findOpenTransfer,
  recordSuspense,
  reportSuspense,
  type SuspenseDeps,
} from '../suspense/record-suspense.ts'
import {
  heldAmountOf,
  isClosedByOperator,
  owedAmountOf,
  resolvedAmountOf,
  type Suspense,
} from '../suspense/suspense.ts'
import {
  type BookedChange,
  bookOnSuspense,
  closeSuspense,
  ensureSuspense,
  findSuspense,
  putSuspense,
} from '../suspense/suspense-store.ts'
import type { Steps } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import { bookOnce } from './book-once.ts'

/** A row of the provider that the house books. */
export type HouseRow = Pick<HouseEntry, 'transactionId' | 'rowAt' | 'providerMinor'> & {
  readonly amountMinor: Minor
  readonly feeMinor?: Minor | undefined
}

export function houseRowOf({
  transactionId,
  createdAt: rowAt,
  providerMinor,
  amountMinor,
  feeMinor,
}: ProviderTransaction): HouseRow {
  return { transactionId, rowAt, providerMinor, amountMinor, feeMinor }
}

/**
 * Books a row that no payment can take, with its finding, once. If the finding exists, the row
 * alone. It belongs to the house until an operator assigns it.
 */
export function bookUnmatchedRow(
  deps: StoreDeps & SuspenseDeps,
  row: HouseRow,
  finding?: Suspense,
) {
  return bookWithFinding(deps, row, { type: 'unmatched', legs: unmatchedLegs(row) }, finding)
}

type Booking = Pick<HouseEntry, 'type' | 'clientId' | 'suspenseId'> & { readonly legs: Legs }

/** What an entry keeps of its row: no figures of the own row of held money, and of a void. */
type RowFacts = Pick<HouseRow, 'transactionId' | 'rowAt' | 'feeMinor'> &
  Partial<Pick<HouseRow, 'amountMinor'>>

async function bookWithFinding(
  deps: StoreDeps & SuspenseDeps,
  row: RowFacts,
  booking: Booking,
  finding: Suspense | undefined,
  other?: Suspense,
) {
  const { suspense, noted } = finding ? putSuspense(finding) : {}
  const more = other && ensureSuspense(other)
  const write = (others: Steps<string>) =>
    onOpenDay(deps, (postedAt) =>
      deps.table.transact<string>({ ...stepsOf(row, booking, postedAt), ...others }),
    )
  const isOfPayout = booking.type === 'withdrawal' && finding?.cause === 'transaction_unexplained'
  const outcome = await write({ suspense, noted, ...more })
  if (!outcome.applied && outcome.refusedBy === 'suspense') await write({ ...more })
  else if (outcome.applied && finding) await reportSuspense(deps, finding)
  else if (!outcome.applied && finding && (isOfPayout || finding.cause === 'transfer')) {
    // The payment became visible, or the settlement was marked failed, after the row was booked.
    const { correction, reversal } = await bookingsOf(deps, row)
    if (!correction && !reversal) await recordSuspense(deps, finding)
  }
}

function stepsOf(
  { transactionId, rowAt, amountMinor, feeMinor }: RowFacts,
  { legs, ...booking }: Booking,
  postedAt: Timestamp,
): Steps<string> {
  return bookOnce(
    newHouseEntry({ transactionId, rowAt, amountMinor, feeMinor, postedAt, ...booking, ...legs }),
  )
}

/**
 * The amount moves between the provider's account and our bank, and the house pays the fee.
 * `named`: its case, if the row names a payment.
 */
export function bookTransfer(
  deps: StoreDeps & SuspenseDeps,
  row: HouseRow,
  type: 'topup' | 'withdrawal',
  {
    contradiction,
    named,
  }: { readonly contradiction: Suspense | undefined; readonly named?: Suspense | undefined },
) {
  const legs = transferLegs(type, row)
  const contradicting = legs.otherMinor === 0 ? undefined : contradiction
  return bookWithFinding(deps, row, { type, legs }, named ?? contradicting, named && contradicting)
}

/** A row that is VOIDED, REVERSED or FAILED after the house has booked it. */
type BookedBack =
  | 'not_booked'
  | 'booked_back'
  /** An operator has made it a payment's refund, which is to be reversed. */
  | { readonly refundOf: NonNullable<HouseEntry['paymentId']> }

/** An operator and a second reading of the same row may refuse a try. */
const MAX_TRIES = 5

/** Books a void row back once; its case ends. `finding`: if an operator decided before. */
export async function bookRowBack(
  deps: HeldDeps & SuspenseDeps,
  row: HouseRow,
  finding: Suspense,
): Promise<BookedBack> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const { correction, reversal, ...booked } = await bookingsOf(deps, row)
    const refund = booked.suspense_refunded
    const entry = booked.unmatched ?? booked.topup ?? booked.withdrawal
    if (reversal) return 'booked_back'
    if (refund?.suspenseId !== undefined) {
      await bookSuspenseRefundVoid(deps, refund, refund.suspenseId, finding)
      return 'booked_back'
    }
    if (entry === undefined) return 'not_booked'
    if (correction?.paymentId !== undefined) return { refundOf: correction.paymentId }
    if (correction) {
      const legs = unmatchedLegs({ providerMinor: negated(entry.providerMinor) })
      const booking = { type: 'reversal', clientId: correction.clientId, legs } as const
      await bookWithFinding(deps, withoutFigures(entry), booking, finding)
      return 'booked_back'
    }
    const transferred = await findOpenTransfer(deps, row.transactionId)
    const { applied } = await onOpenDay(deps, (postedAt) =>
      deps.table.transact<string>({
        ...bookEntryBack(entry, { postedAt }),
        transferred: transferred && closeSuspense(transferred, VOIDED),
      }),
    )
    if (applied) return 'booked_back'
  }
  throw new Error('a row kept changing while it was booked back')
}

/** Nothing left the account, so nothing is to be explained. */
const VOIDED = { status: 'resolved', resolution: 'voided' } as const

/** Books the settled own row of money in suspense: its amount is held, less what went back. */
export function bookSuspense(
  deps: HeldDeps,
  suspense: Suspense,
  row: Omit<HouseRow, 'amountMinor'>,
): Promise<Suspense> {
  return bookOnItem(deps, suspense, withoutFigures(row), (item) => {
    // A slice may have read the row before it became void, or before its payment was credited.
    const isEnded = isClosedByOperator(item) || item.resolution === 'credited'
    if (item.providerMinor !== undefined || item.isVoid || isEnded) return undefined
    const legs = suspenseLegs(row, item.amountMinor ?? ZERO)
    const set = { providerMinor: row.providerMinor }
    return { set, type: 'suspense', legs, clientId: item.clientId }
  })
}

type ItemBooking = Booking & {
  readonly set?: BookedChange
  readonly finding?: Suspense | undefined
}

/**
 * Books a row of money in suspense, once. Answers the item for which the booking was planned;
 * throws when the item kept changing.
 */
async function bookOnItem(
  deps: HeldDeps,
  { suspenseId }: Pick<Suspense, 'suspenseId'>,
  row: RowFacts,
  plan: (item: Suspense) => ItemBooking | undefined,
): Promise<Suspense> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const item = await findSuspense(deps, suspenseId)
    if (item === undefined) break
    const planned = plan(item)
    if (planned === undefined) return item
    const { set, finding, ...booking } = planned
    const itemStep = set && bookOnSuspense(item, set)
    const stepsAt = (postedAt: Timestamp) => stepsOf(row, { ...booking, suspenseId }, postedAt)
    const outcome = await withShownMoney(deps, { ...item, ...set }, (shown, freshUntil) =>
      onOpenDay(deps, (postedAt) =>
        deps.table.transact<string>(
          {
            item: itemStep,
            ...stepsAt(postedAt),
            ...(finding && ensureSuspense(finding)),
            ...shown,
          },
          freshUntil,
        ),
      ),
    )
    // The row is booked before, and that booking stays.
    if (outcome.applied || outcome.refusedBy in stepsAt(deps.now())) return item
  }
  throw new Error('an item in suspense kept changing while its row was booked')
}

const REFUNDED = { status: 'resolved', resolution: 'refunded' } as const

/**
 * A row out takes at most what is not refunded yet, whether the money's own row has settled or not.
 * The item is resolved when all its money is refunded. A refund of credited money is its payment's.
 */
export function bookSuspenseRefund(
  deps: HeldDeps,
  suspense: Suspense,
  row: HouseRow,
  contradiction: Suspense,
) {
  return bookOnItem(deps, suspense, row, (item) => {
    if (item.resolution === 'credited') return undefined
    const isOpen = item.status === 'open'
    const backMinor = isOpen ? smaller(row.amountMinor, owedAmountOf(item)) : ZERO
    const legs = suspenseRefundLegs(row, backMinor)
    const finding = legs.otherMinor === 0 ? undefined : contradiction
    const booking = { type: 'suspense_refunded', legs, finding } as const
    if (!isOpen) return booking
    const refundedMinor = plus(item.refundedMinor ?? ZERO, backMinor)
    const isWhole = owedAmountOf({ ...item, refundedMinor }) <= 0
    return { ...booking, set: { refundedMinor, ...(isWhole && REFUNDED) } }
  })
}

/** The item is open and told again, unless its own row is void. What an operator closed is told. */
function bookSuspenseRefundVoid(
  deps: HeldDeps,
  refund: HouseEntry,
  suspenseId: string,
  finding: Suspense,
) {
  return bookOnItem(deps, { suspenseId }, withoutFigures(refund), (item) => {
    const isLacking = !item.isVoid && refund.suspenseMinor !== 0 && isClosedByOperator(item)
    const againMinor = isLacking || item.isVoid ? ZERO : negated(refund.suspenseMinor)
    const legs = suspenseRefundVoidLegs(refund, againMinor)
    const booking = { type: 'reversal', legs, ...(isLacking && { finding }) } as const
    if (againMinor === 0) return booking
    const refundedMinor = less(item.refundedMinor ?? ZERO, againMinor)
    return { ...booking, set: { refundedMinor, status: 'open', dueAt: deps.now() } }
  })
}

/** The provider takes back what the own row has booked. What was refunded or resolved is lost. */
export function bookSuspenseVoid(
  deps: HeldDeps,
  suspense: Suspense,
  row: Omit<HouseRow, 'amountMinor'>,
): Promise<Suspense> {
  return bookOnItem(deps, suspense, withoutFigures(row), (item) => {
    // Of a credited payment's row the void is the payment's.
    if (item.isVoid || item.resolution === 'credited') return undefined
    const set = { isVoid: true, ...(item.status === 'open' && REFUNDED) } as const
    const resolvedMinor = resolvedAmountOf(item)
    const legs = suspenseVoidLegs({ ...item, resolvedMinor, heldMinor: heldAmountOf(item) })
    return { set, type: 'suspense_refunded', legs }
  })
}

function withoutFigures({ transactionId, rowAt }: RowFacts): RowFacts {
  return { transactionId, rowAt }
}
