import type { Deps } from '../deps.ts'
import { conflict, invalid, refused } from '../errors.ts'
import { requireRow } from '../field-errors.ts'
import { paymentIdOf } from '../ids.ts'
import { type HouseEntry, newHouseEntry, onOpenDay, putHouseEntry } from '../journal/house-store.ts'
import { suspenseResolvedLegs } from '../journal/legs.ts'
import { approvalWasChanged, requireApproval } from '../operator/approval-store.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { endAsCredited, type HeldDeps, withShownMoney } from '../payment/held-money.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { requireStatus } from '../payment/shown-store.ts'
import { isInRupiah, type ProviderTransaction, providerFailure } from '../provider/provider.ts'
import { heldAmountOf, isSuspenseId, type Suspense, SuspenseSchema } from '../suspense/suspense.ts'
import { closeSuspense, findSuspense } from '../suspense/suspense-store.ts'
import { suspenseKey } from '../table/keys.ts'
import type { Steps } from '../table/table.ts'
import type { Timestamp } from '../time.ts'
import { refuseVoid, requireRows, UNCHANGED } from './ask-for-rows.ts'
import { bookSuspense, houseRowOf } from './house-journal.ts'

/** The resolutions that operators may choose. A refund by the provider is booked by its own row. */
const ALLOWED = {
  money: ['refunded_by_bank', 'written_off'],
  finding: ['explained'],
  case: ['explained', 'answered', 'accepted'],
} as const
export const OPERATOR_RESOLUTIONS = [...ALLOWED.money, ...ALLOWED.case] as const
export type OperatorResolution = (typeof OPERATOR_RESOLUTIONS)[number]

/**
 * Closes a suspense item once: house entry, item and audit record in one transaction, with what
 * its payment shows. A refund by our bank uses up its approval. The provider is asked once more
 * before a refund, because a payment may be credited with the money, and about money that has not
 * settled, because the sync does not read a row for ever. Throws 404 for an unknown item; 422 for a
 * wrong resolution, a resolved item, money that has not settled or a missing approval; 409 if a
 * payment is credited with the money, its row is void, the provider gives it back by a row that is
 * not booked, or the item is unreadable or changes meanwhile.
 */
export async function resolveSuspense(
  deps: RecordDeps & HeldDeps & Pick<Deps, 'provider'>,
  input: Pick<Suspense, 'suspenseId' | 'notes'> & {
    readonly operator: string
    readonly resolution: OperatorResolution
  },
): Promise<Suspense> {
  const { suspenseId, operator, resolution, notes } = input
  const stored = isSuspenseId(suspenseId)
    ? await deps.table.get(suspenseKey(suspenseId))
    : undefined
  const owner = stored?.['clientId'] ?? null
  const found = {
    ...requireRow(SuspenseSchema, stored, 'suspense item', suspenseId, owner),
    suspenseId,
  }
  if (found.status === 'resolved') throw alreadyResolved()
  assertAllowed(found, resolution)
  const byBank = resolution === 'refunded_by_bank'
  const isSettled = found.kind !== 'money' || found.providerMinor !== undefined
  const { item, rows } =
    isSettled && !byBank ? { item: found, rows: [] } : await settledItem(deps, found, byBank)
  const payload = { suspense_id: suspenseId, resolution }
  // Our bank pays the customer.
  const approval = byBank
    ? await requireApproval(deps, { action: 'resolve-suspense', payload })
    : undefined
  const changes = { status: 'resolved', resolution, notes } as const
  const record = {
    subject: suspenseId,
    clientId: item.clientId,
    operator,
    action: 'resolve-suspense',
    before: { status: item.status },
    after: { ...changes, notes: notes ?? null, ...(approval && { approved: approval.shown }) },
  }
  const outcome = await withShownMoney(deps, { ...item, ...changes }, async (shown, freshUntil) => {
    // After the read of what the payment shows: a credit that refused a try is seen by the next.
    const uncredited = await refuseCredited(deps, item, rows)
    return onOpenDay(deps, (postedAt) =>
      recordChange<string>(
        deps,
        { ...record, freshUntil },
        {
          item: closeSuspense(item, changes),
          approval: approval?.step,
          ...(item.kind === 'money' && putHouseEntry(resolutionEntry(item, resolution, postedAt))),
          ...uncredited,
          ...shown,
        },
      ),
    )
  })
  if (outcome.applied) return { ...item, ...changes }
  if ((await findSuspense(deps, suspenseId))?.status === 'resolved') throw alreadyResolved()
  if (outcome.refusedBy === 'approval') throw approvalWasChanged()
  throw conflict('the item or its payment changed at the same time; try again')
}

/** The money moves out of suspense: to the customer by our bank, or to the house. */
export function resolutionEntry(
  item: Suspense,
  resolution: Suspense['resolution'],
  postedAt: Timestamp,
): HouseEntry {
  const { suspenseId, createdAt: rowAt, providerMinor } = item
  // Without a booked row our bank has paid what no book holds, and a part that went back is lost.
  const isByBank = resolution === 'refunded_by_bank' && providerMinor !== undefined
  return newHouseEntry({
    type: 'suspense_resolved',
    transactionId: suspenseId,
    suspenseId,
    rowAt,
    postedAt,
    ...suspenseResolvedLegs(heldAmountOf(item), isByBank),
  })
}

function alreadyResolved() {
  return refused('this item is already resolved', 'list-suspense shows how it was resolved.')
}

function assertAllowed(item: Suspense, resolution: OperatorResolution) {
  const allowed: readonly OperatorResolution[] = ALLOWED[item.kind]
  if (!allowed.includes(resolution)) {
    throw invalid(
      `an item of kind ${item.kind} cannot be ${resolution}`,
      { resolution: [`must be one of ${allowed.join(', ')}`] },
      'Money is refunded by bank or written off; a finding is explained; a dispute is answered, ' +
        'accepted or explained.',
    )
  }
}

/**
 * Books the money's own row if it has settled by now. Throws 422 if it has not, and 409 as
 * `resolveSuspense` does. Money whose row has failed never came: it may be written off.
 */
async function settledItem(
  deps: HeldDeps & Pick<Deps, 'provider'>,
  item: Suspense,
  byBank: boolean,
) {
  const { suspenseId } = item
  const answer = await requireRows(deps, suspenseId)
  // Without a row, too, the capture itself says whose money it is.
  const rows = answer.rows.length > 0 ? answer.rows : [{ reference: '' }]
  await refuseCredited(deps, item, rows)
  const [first, ...others] = new Set(answer.rows.map(({ status }) => status))
  if (first === 'failed' && others.length === 0 && !byBank) return { item, rows }
  refuseVoid(answer)
  if (item.providerMinor !== undefined) return { item, rows }
  const row = answer.rows.find(
    (shown) =>
      shown.status === 'success' &&
      (isInRupiah(shown) ? shown.keptMinor : shown.settledAt) !== undefined,
  )
  if (row === undefined) {
    throw refused(
      'the provider has not settled this money yet',
      'Wait until its row has settled, then resolve it. A refund in the provider dashboard ' +
        'resolves it too.',
    )
  }
  // Nothing is booked of such money, so nothing leaves the books.
  if (!isInRupiah(row)) return { item, rows }
  await bookSuspense(deps, item, houseRowOf(row))
  // A dry run has booked nothing.
  const { providerMinor } = row
  const booked = { ...item, ...(await findSuspense(deps, suspenseId)), providerMinor }
  if (booked.status === 'resolved') throw alreadyResolved()
  return { item: booked, rows }
}

/** Answers the condition of the write: the payment that a row names is not credited meanwhile. */
async function refuseCredited(
  deps: HeldDeps & Pick<Deps, 'provider'>,
  item: Suspense,
  rows: readonly Pick<ProviderTransaction, 'reference'>[],
): Promise<Steps<string>> {
  const { suspenseId } = item
  let uncredited: Steps<string> = {}
  for (const { reference } of rows) {
    // The capture itself says whose a row is that has no reference.
    const answer = reference === '' ? await deps.provider.getPayment(suspenseId) : undefined
    if (answer?.kind === 'unanswered') throw providerFailure(answer, UNCHANGED)
    const id = paymentIdOf(answer?.kind === 'found' ? answer.value.reference : reference)
    const stored = id && (await findStoredPayment(deps, id))
    // If the payment shows the item, that step has this condition, and takes this step's place.
    if (id) uncredited = { shown: requireStatus(id, stored?.status) }
    if (stored?.status !== 'succeeded' || stored.capture?.providerPaymentId !== suspenseId) continue
    const isEnded = await endAsCredited(deps, item)
    throw conflict(
      `payment ${id} is credited with this money`,
      isEnded
        ? 'Give nothing back: the item is resolved as credited.'
        : 'Give nothing back, and call the owner of the code: rows are booked on the item.',
    )
  }
  return uncredited
}
