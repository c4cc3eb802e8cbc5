import { requireClient } from '../client/client-store.ts'
import { conflict, invalidField, notFound } from '../errors.ts'
import { derivedUuid } from '../ids.ts'
import { type Entry, figuresOf, newEntry } from '../journal/entry.ts'
import { findEntry, putEntry } from '../journal/entry-store.ts'
import {
  findUnclaimedRow,
  type HouseEntry,
  onOpenDay,
  requireTakenOver,
  takeOverRow,
} from '../journal/house-store.ts'
import { adjustmentLegs } from '../journal/legs.ts'
import { getBalance } from '../ledger/ledger-store.ts'
import { adjustCredit } from '../ledger/shard-store.ts'
import { readWindow, type Window, writeOffInWindow } from '../ledger/window-store.ts'
import { atLeastZero, less, plus, ZERO } from '../money.ts'
import { type Approvable, requireApproval, type UsedApproval } from '../operator/approval-store.ts'
import { findAuditHead, type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Steps } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'
import {
  type Adjustment,
  findAdjustment,
  listAdjustments,
  putAdjustment,
} from './adjustment-store.ts'

export type AdjustmentInput = Omit<Adjustment, 'entryId' | 'eligibleAt'> & {
  readonly operator: string
}

type AdjustmentResult = { readonly adjustment: Adjustment; readonly entry: Entry }

/** Settlements, other write-offs and other operators may refuse a try. */
const MAX_TRIES = 5

/**
 * Writes an operator's adjustment of a client's money (design sections 7, 10 and 12), once for each
 * client and reference; a repeat answers the stored entry. What raises a balance, or lowers our
 * bank account, needs an approval of exactly this input (section 11). Throws 404 for an unknown
 * client or row, 409 for a used reference or row, 422 without the approval or beyond the bounds.
 */
export async function adjustLedger(
  deps: RecordDeps,
  input: AdjustmentInput,
): Promise<AdjustmentResult> {
  const { kind, amountMinor, providerTransactionId } = input
  if (amountMinor === 0) throw invalidField('amount_minor', 'must not be 0')
  if (providerTransactionId !== undefined && kind !== 'correction')
    throw invalidField('provider_transaction_id', 'only with kind correction')
  const { clientId } = await requireClient(deps, input.clientId)
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const earlier = await findEarlierAdjustment(deps, input)
    if (earlier) return earlier
    const row = await findUnclaimedRow(deps, providerTransactionId)
    if (providerTransactionId !== undefined && row === undefined)
      throw notFound('provider transaction')
    // The chain of the client's records puts the adjustments of its operators into an order.
    const head = { last: await findAuditHead(deps, clientId) }
    const window = await readWindow(deps, clientId)
    const asked = approvalFor(input, row)
    let approval: UsedApproval | undefined
    try {
      await assertWithinBounds(deps, input, window)
      approval = asked && (await requireApproval(deps, asked))
    } catch (cause) {
      // Another call of this adjustment may have used the approval, or paid the debt.
      if (await findEarlierAdjustment(deps, input)) continue
      throw cause
    }
    const outcome = await onOpenDay(deps, async (now) => {
      const postedAt = later(now, window.closedUntil)
      const { adjusted, record, steps } = planAdjustment(input, { row, window, approval, postedAt })
      return { adjusted, ...(await recordChange(deps, { ...record, head }, steps)) }
    })
    if (outcome.applied) return outcome.adjusted
    if (row) requireTakenOver(row, outcome.refusedBy)
  }
  throw conflict('other changes of this ledger are in progress; try again')
}

/**
 * Paid back or given up is at most what the client owes; a negative amount takes back at most what
 * was recorded.
 */
async function assertWithinBounds(
  deps: RecordDeps,
  { clientId, kind, amountMinor }: AdjustmentInput,
  { writtenOffMinor }: Window,
) {
  if (kind === 'correction') return
  let mostMinor = kind === 'recovered' ? ZERO : writtenOffMinor
  if (amountMinor > 0) {
    const { pendingMinor, availableMinor } = await getBalance(deps, clientId)
    mostMinor = atLeastZero(less(ZERO, plus(pendingMinor, availableMinor)))
  } else if (kind === 'recovered') {
    for (const one of await listAdjustments(deps, clientId))
      if (one.kind === kind) mostMinor = plus(mostMinor, one.amountMinor)
  }
  if (Math.abs(amountMinor) <= mostMinor) return
  const most = `only ${mostMinor} IDR`
  const words = kind === 'recovered' ? 'paid back' : 'written off'
  throw invalidField(
    'amount_minor',
    amountMinor > 0 ? `this client owes ${most}` : `this client has ${most} ${words}`,
    'get-books shows it: clients and open, less unpaid settlements. A correction has no bounds.',
  )
}

/** What raises what leaves the house: any positive amount, or less at our bank. */
export function approvalFor(
  input: Omit<AdjustmentInput, 'operator'>,
  row: HouseEntry | undefined,
): Approvable | undefined {
  const { amountMinor, kind } = input
  if (amountMinor < 0 && kind !== 'recovered' && !(row && row.bankMinor > 0)) return undefined
  const payload = {
    client_id: input.clientId,
    kind,
    amount_minor: amountMinor,
    reference: input.reference,
    provider_transaction_id: input.providerTransactionId ?? null,
  }
  return { action: 'adjust-ledger', payload }
}

/** Undefined when the reference is free. Throws 409 if the earlier figures differ. */
async function findEarlierAdjustment(
  deps: RecordDeps,
  input: AdjustmentInput,
): Promise<AdjustmentResult | undefined> {
  const { clientId, reference } = input
  const adjustment = await findAdjustment(deps, clientId, reference)
  if (adjustment === undefined) return undefined
  const isSame =
    adjustment.kind === input.kind &&
    adjustment.amountMinor === input.amountMinor &&
    adjustment.providerTransactionId === input.providerTransactionId
  if (!isSame) {
    throw conflict(
      `reference ${reference} belongs to an adjustment with other figures`,
      `Use another reference for another adjustment. list-audit --client_id ${clientId} shows ` +
        'the adjustments.',
    )
  }
  const entry = await findEntry(deps, clientId, adjustment)
  if (entry) return { adjustment, entry }
  // A transaction becomes visible item by item.
  throw conflict(
    `adjustment ${reference} is being written right now; try again`,
    'If this answer repeats, run audit-ledger: it names the missing entry.',
  )
}

/**
 * The other side of an entry: our bank for recovered money, the provider for a row that the house
 * gives up, once.
 */
export function planAdjustment(
  { operator, ...input }: AdjustmentInput,
  {
    row,
    window,
    approval,
    postedAt,
  }: {
    readonly row: HouseEntry | undefined
    readonly window: Window
    readonly approval: UsedApproval | undefined
    readonly postedAt: Timestamp
  },
) {
  const { clientId, kind, amountMinor, reference, providerTransactionId } = input
  const entryId = derivedUuid('adjustment', clientId, reference)
  const adjustment: Adjustment = { ...input, entryId, eligibleAt: postedAt }
  const entry = adjustmentEntry(adjustment, row)
  const writeOff = { readMinor: window.writtenOffMinor, addMinor: amountMinor, postedAt }
  const steps: Steps<string> = {
    adjustment: putAdjustment(adjustment),
    approval: approval?.step,
    ...(row && takeOverRow(row, { postedAt, clientId })),
    ledger: adjustCredit(clientId, amountMinor, postedAt),
    window: kind === 'written_off' ? writeOffInWindow(clientId, writeOff) : undefined,
    entry: putEntry(clientId, entry),
  }
  const after = {
    kind,
    amount_minor: amountMinor,
    reference,
    provider_transaction_id: providerTransactionId ?? null,
    entry_id: entry.entryId,
    eligible_at: postedAt,
    notes: input.notes ?? null,
    ...(approval && { approved: approval.shown }),
  }
  const record = { subject: clientId, clientId, operator, action: 'adjust-ledger', after }
  return { adjusted: { adjustment, entry }, record, steps }
}

/** `row`: what the adjustment takes over from the house. */
export function adjustmentEntry(
  adjustment: Adjustment,
  row: Pick<HouseEntry, 'providerMinor'> | undefined,
): Entry {
  const { entryId, kind, amountMinor, reference, providerTransactionId, eligibleAt } = adjustment
  return newEntry({
    entryId,
    type: kind,
    eligibleAt,
    postedAt: eligibleAt,
    ...figuresOf(amountMinor, ZERO, ZERO),
    ...adjustmentLegs(kind, amountMinor, row),
    adjustmentReference: reference,
    providerTransactionId,
  })
}

export function toAdjustmentDto({ adjustment, entry }: AdjustmentResult) {
  return {
    id: entry.entryId,
    client_id: adjustment.clientId,
    type: entry.type,
    reference: adjustment.reference,
    posted_at: entry.postedAt,
    client_net_minor: entry.netMinor,
    provider_minor: entry.providerMinor,
    bank_minor: entry.bankMinor,
    cost_minor: entry.costMinor,
    other_minor: entry.otherMinor,
    provider_transaction_id: entry.providerTransactionId ?? null,
    notes: adjustment.notes ?? null,
  }
}
