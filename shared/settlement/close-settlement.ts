import type { Deps } from '../deps.ts'
import { conflict, refused } from '../errors.ts'
import { derivedUuid } from '../ids.ts'
import { type Entry, NO_FIGURES, newEntry } from '../journal/entry.ts'
import { putEntry } from '../journal/entry-store.ts'
import { readWindow, recreditWindow } from '../ledger/window-store.ts'
import { type ApprovedFigures, requireApproval } from '../operator/approval-store.ts'
import { type RecordDeps, readAuditRecords, recordChange } from '../operator/audit-record-store.ts'
import type { Steps } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'
import { sendAnnouncement } from '../webhook/delivery/announce.ts'
import { announcementOfSettlement, requireNotEnded } from './announce-settlement.ts'
import { requireOwnSums } from './require-own-sums.ts'
import type { Settlement } from './settlement.ts'
import { findAnySettlement, markClosed, markRecredited } from './settlement-store.ts'

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

/**
 * Carries a failed settlement's sums into the next settlement, eligible at once. Its own figures
 * are zero: the money is in the journal already.
 */
export function recreditEntry(settlement: Settlement, postedAt: Timestamp): Entry {
  const { settlementId, grossMinor, feeMinor, markupMinor, netMinor } = settlement
  const { paymentCount, unprovenMinor } = settlement
  return newEntry({
    entryId: derivedUuid('recredit', settlementId),
    type: 'recredit',
    eligibleAt: postedAt,
    postedAt,
    ...NO_FIGURES,
    recreditedSettlementId: settlementId,
    carried: { grossMinor, feeMinor, markupMinor, netMinor, paymentCount, unprovenMinor },
  })
}

/**
 * Makes the net of a failed settlement available again, once: settlement, window, entry and audit
 * record in one transaction. The next settlement contains the net as one line. Only a person knows
 * that the transfer did not go out, so it needs an approval (section 11). Throws 404, and 422
 * without the approval, or unless the settlement has failed, has the sums of its entries and is not
 * re-credited yet. Throws 409 as `giveBack` does.
 */
export function recreditSettlement(
  deps: CloseDeps,
  input: CloseInput & { readonly notes: string },
) {
  const how = {
    action: 'recredit-settlement',
    figures: {},
    assertState: assertRecreditable,
  } as const
  return giveBack(deps, input, how, (settlement, postedAt) => {
    const { clientId, netMinor } = settlement
    const recredited: Settlement = { ...settlement, recreditedAt: postedAt }
    return {
      answer: recredited,
      after: { ...statusRecord(recredited), notes: input.notes },
      steps: {
        settlement: markRecredited(settlement, postedAt),
        window: recreditWindow(clientId, netMinor, postedAt),
        entry: putEntry(clientId, recreditEntry(settlement, postedAt)),
      },
    }
  })
}

function assertRecreditable(settlement: Settlement) {
  if (settlement.status !== 'failed') throw wrongStateError('recredited', settlement)
  if (settlement.recreditedAt === undefined) return
  throw refused(
    'settlement was recredited already',
    'Its funds are in available_minor until the next settlement.',
  )
}

/** Another operator, or a settlement that raises the fence, may refuse a try. */
const MAX_TRIES = 5

type GivenBack<Answer> = {
  readonly answer: Answer
  readonly after: object
  readonly steps: Steps<string>
}

/**
 * Books a settlement's net back to its client, and uses up the approval of the action. Throws 409
 * if a record says that the action was done: after a restore the table may have the record of a
 * change whose row it has lost. The records must be read before the row, because a change that runs
 * at the same time writes both. Throws 409 too if other changes of the ledger refuse every try.
 */
export async function giveBack<Answer>(
  deps: CloseDeps,
  { settlementId, operator }: CloseInput,
  {
    action,
    figures,
    assertState,
  }: {
    readonly action: 'recredit-settlement' | 'return-payout'
    readonly figures: ApprovedFigures
    readonly assertState: (settlement: Settlement) => void
  },
  booked: (settlement: Settlement, postedAt: Timestamp) => GivenBack<Answer>,
): Promise<Answer> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const { records } = await readAuditRecords(deps, settlementId)
    const settlement = await findAnySettlement(deps, settlementId)
    assertState(settlement)
    const { clientId } = settlement
    if (records.some((record) => record.action === action)) {
      throw conflict(
        `a record says that ${action} of settlement ${settlementId} was done`,
        `Run recount-ledger --client_id ${clientId}: it brings back what a restore lost.`,
      )
    }
    await requireOwnSums(deps, settlement)
    const { closedUntil } = await readWindow(deps, clientId)
    const { answer, after, steps } = booked(settlement, later(deps.now(), closedUntil))
    const payload = { settlement_id: settlementId, ...figures }
    const approval = await requireApproval(deps, { action, payload })
    const record = {
      subject: settlementId,
      clientId,
      operator,
      action,
      before: statusRecord(settlement),
      after: { ...after, approved: approval.shown },
    }
    const { applied } = await recordChange(deps, record, { ...steps, approval: approval.step })
    if (applied) return answer
  }
  throw conflict('other changes of this ledger are in progress; try again')
}
