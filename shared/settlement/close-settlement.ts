import type { Deps } from '../deps.ts'
import { conflict, refused } from '../errors.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import type { Steps } from '../table/table.ts'
import { sendAnnouncement } from '../webhook/delivery/announce.ts'
import { announcementOfSettlement, requireNotEnded } from './announce-settlement.ts'
import type { Settlement } from './settlement.ts'
import { findAnySettlement, markClosed } from './settlement-store.ts'

export type CloseDeps = RecordDeps & Pick<Deps, 'stage' | 'log'>

const NEXT_STEP: Readonly<Record<Settlement['status'] | 'recredited', string>> = {
  recorded:
    'Only a failed settlement can be recredited. If the bank did not pay it, run ' +
    'mark-settlement-failed first.',
  manual_paid: 'It is paid out, which is final. return-payout books a transfer that came back.',
  failed: 'It has failed, which is final; recredit-settlement makes its funds available again.',
  recredited:
    'It has failed, which is final. Its funds are available again and will be in the next ' +
    'settlement.',
}

type CloseAction = { readonly operator: string; readonly action: string; readonly details?: object }

/**
 * Writes the settlement's end in one transaction with its event, the audit record and further
 * steps. Answers the refusal of a further step. Throws 422 if another operator has closed the
 * settlement, and 409 if it was announced before.
 */
export async function closeSettlement<Name extends string>(
  deps: CloseDeps & Pick<Deps, 'queues'>,
  {
    before,
    after,
    action,
    secondRecord,
  }: {
    readonly before: Settlement
    readonly after: Settlement
    readonly action: CloseAction
    readonly secondRecord?: Parameters<typeof recordChange>[3]
  },
  steps: Steps<Name>,
) {
  const announcement = await announcementOfSettlement(deps, after, after.settledAt ?? deps.now())
  const { steps: announced, freshUntil } = announcement
  // The first step, so that the slower of two operators gets this step's refusal.
  const allSteps: Steps<string> = {
    settlement: markClosed(after),
    ...steps,
    otherEnd: requireNotEnded(after),
    ...announced,
  }
  const record = { ...changeRecord(before, after, action), freshUntil }
  const outcome = await recordChange(deps, record, allSteps, secondRecord)
  if (outcome.applied) {
    deps.log.info('settlement.closed', { settlement_id: after.settlementId, status: after.status })
    await sendAnnouncement(deps, announcement)
    return outcome
  }
  if (outcome.refusedBy === 'settlement') {
    const stored = await findAnySettlement(deps, before.settlementId)
    // A recount may have corrected the sums of a settlement that is still recorded.
    if (stored.status !== 'recorded') throw wrongStateError('closed', stored)
  }
  if (['event', 'otherEnd'].includes(outcome.refusedBy)) throw announcedError(after)
  return outcome
}

/** After a restore the table may have the event of a payout that it has lost. */
function announcedError({ settlementId, clientId }: Settlement) {
  return conflict(
    `settlement ${settlementId} was announced as paid or failed before a restore`,
    `Run recount-ledger --client_id ${clientId} first: it brings the payout back.`,
  )
}

function changeRecord(before: Settlement, after: Settlement, { details, ...action }: CloseAction) {
  return {
    subject: before.settlementId,
    clientId: before.clientId,
    ...action,
    before: statusRecord(before),
    after: { ...statusRecord(after), notes: after.notes ?? null, ...details },
  }
}

export function statusRecord({ status, settledAt, recreditedAt }: Settlement) {
  return { status, settled_at: settledAt ?? null, recredited_at: recreditedAt ?? null }
}

export function wrongStateError(action: string, { status, recreditedAt }: Settlement) {
  const nextStep =
    NEXT_STEP[status === 'failed' && recreditedAt !== undefined ? 'recredited' : status]
  return refused(`settlement cannot be ${action} in status=${status}`, nextStep)
}

export type CloseInput = { readonly settlementId: string; readonly operator: string }

export type TransferInput = CloseInput & {
  /** The bank's own number of the transfer. */
  readonly bankReference: string
  /** Of a bank whose numbers begin again each day. */
  readonly valueDate?: string | undefined
  readonly notes?: string | undefined
}
