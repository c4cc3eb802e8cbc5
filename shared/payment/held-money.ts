import { isDeepStrictEqual } from 'node:util'
import type { Deps } from '../deps.ts'
import { conflict } from '../errors.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { ZERO } from '../money.ts'
import { reportSuspense, type SuspenseDeps } from '../suspense/record-suspense.ts'
import { SUSPENSE_CAUSES, type Suspense, SuspenseSchema } from '../suspense/suspense.ts'
import { bookOnSuspense, putSuspense } from '../suspense/suspense-store.ts'
import type { Steps, TransactOutcome } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import { type AnnounceDeps, sendAnnouncement } from '../webhook/delivery/announce.ts'
import { announcementOfHeld } from './announcement.ts'
import type { HeldMoney, Payment } from './payment.ts'
import { findStoredPayment, isForeign } from './payment-store.ts'
import { noteHeld, requireStatus } from './shown-store.ts'

export type HeldDeps = AnnounceDeps & Pick<Deps, 'queues' | 'log' | 'now'>

/** A payment shows so many items, the newest. */
export const MAX_SHOWN = 10

/** News of the payment may refuse a try. */
const MAX_TRIES = 5

/** Holds money once, and tells its merchant and the operators (design section 4). */
export async function holdMoney(deps: HeldDeps & SuspenseDeps, item: Suspense): Promise<void> {
  const outcome = await withShownMoney(deps, item, (shown, freshUntil) =>
    deps.table.transact<string>({ ...putSuspense(item), ...shown }, freshUntil),
  )
  if (outcome.applied) return reportSuspense(deps, item)
  if (outcome.refusedBy !== 'suspense')
    throw new Error('a payment kept changing while its money was held')
  // After a restore its payment may not show it.
  await withShownMoney(deps, heldBefore(outcome.item), async (shown, freshUntil) =>
    Object.keys(shown).length > 0
      ? deps.table.transact<string>(shown, freshUntil)
      : { applied: true },
  )
}

/** The money that is held already. Throws if the item with its id is not money. */
export function heldBefore(item: unknown): Suspense {
  const stored = ifValid(SuspenseSchema, item)
  if (stored?.kind !== 'money') throw new Error('an item that is not money has the id of money')
  return stored
}

/**
 * Ends money that a payment is credited with after all: nothing is left to give back. An item that
 * rows were booked on stays open, because a person must correct the books. Answers whether it has
 * ended. Throws if it changes meanwhile.
 */
export async function endAsCredited(deps: HeldDeps, item: Suspense): Promise<boolean> {
  if (item.kind !== 'money' || item.status !== 'open') return item.resolution === 'credited'
  if (item.providerMinor !== undefined || (item.refundedMinor ?? ZERO) > 0) return false
  const credited = { status: 'resolved', resolution: 'credited' } as const
  const { applied } = await withShownMoney(deps, { ...item, ...credited }, (shown, freshUntil) =>
    deps.table.transact<string>({ item: bookOnSuspense(item, credited), ...shown }, freshUntil),
  )
  if (!applied) throw conflict('the money was just changed; try again')
  return true
}

/**
 * Writes a change of an item with what its payment then shows, and its event: `write` adds the
 * steps to the item's own transaction. News of the payment that refuses them begins another try.
 */
export async function withShownMoney<Outcome extends TransactOutcome<string>>(
  deps: HeldDeps,
  after: Suspense,
  write: (shown: Steps<string>, freshUntil: Timestamp | undefined) => Promise<Outcome>,
): Promise<Outcome> {
  let isAnnounced = false
  for (let tried = 1; ; tried++) {
    const { visible, creating } = await ownPaymentOf(deps, after)
    const change = visible && (await announceMoney(deps, visible, after, isAnnounced))
    const shown = change
      ? { shown: noteHeld(visible, change.held), ...change.steps }
      : creating && { shown: requireStatus(creating.paymentId, 'creating') }
    const outcome = await write({ ...shown }, change?.freshUntil)
    if (outcome.applied) await change?.report()
    else if (tried < MAX_TRIES && outcome.refusedBy in { stale: true, ...shown }) {
      // After a restore, or if the item was in this status before.
      isAnnounced ||= outcome.refusedBy === HELD_EVENT
      continue
    }
    return outcome
  }
}

export const HELD_EVENT = 'heldEvent'

/**
 * What a payment shows of its money in suspense after the item's change, with the steps of its
 * event and `report`, which sends its deliveries. Undefined if it shows the item so already.
 */
export async function announceMoney(
  deps: HeldDeps,
  payment: Payment,
  item: Suspense,
  isAnnounced: boolean,
) {
  const shown = shownMoney(item)
  if (shown === undefined) return undefined
  const known = payment.held ?? []
  if (known.some((one) => isDeepStrictEqual(one, shown))) return undefined
  const others = known.filter(({ suspenseId }) => suspenseId !== shown.suspenseId)
  const held = newestShown([...others, shown])
  if (isAnnounced) return { held, steps: {}, freshUntil: undefined, report: async () => {} }
  const announcement = await announcementOfHeld(deps, { ...payment, held }, shown, deps.now())
  const { event, ...deliveries } = announcement.steps
  return {
    held,
    steps: { [HELD_EVENT]: event, ...deliveries },
    freshUntil: announcement.freshUntil,
    report: () => sendAnnouncement(deps, announcement),
  }
}

/** The payment of held money that its merchant sees, or will see. */
async function ownPaymentOf(deps: HeldDeps, { paymentId, clientId, kind }: Suspense) {
  const id = kind === 'money' ? ifValid(PaymentIdSchema, paymentId) : undefined
  const stored = id && (await findStoredPayment(deps, id))
  if (!stored || isForeign(stored) || stored.clientId !== clientId) return {}
  return stored.status === 'creating' ? { creating: stored } : { visible: stored }
}

/** What a merchant sees of the item. Undefined unless it holds money. */
export function shownMoney(item: Suspense): HeldMoney | undefined {
  const { suspenseId, kind, amountMinor = ZERO, createdAt: at } = item
  const cause = SUSPENSE_CAUSES.money.find((known) => known === item.cause)
  if (kind !== 'money' || cause === undefined) return undefined
  return { suspenseId, amountMinor, cause, status: shownStatus(item), at }
}

function shownStatus({ status, resolution }: Suspense) {
  if (status === 'open') return 'open'
  return resolution === 'credited' || resolution === 'written_off' ? resolution : 'refunded'
}

/** The newest items of a payment, oldest first. */
export function newestShown(items: readonly HeldMoney[]): HeldMoney[] {
  const order = ({ at, suspenseId }: HeldMoney) => `${at} ${suspenseId}`
  return items.toSorted((a, b) => (order(a) < order(b) ? -1 : 1)).slice(-MAX_SHOWN)
}
