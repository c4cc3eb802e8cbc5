import { conflict, refused } from '../errors.ts'
import { derivedUuid } from '../ids.ts'
import { type Entry, NO_FIGURES, newEntry } from '../journal/entry.ts'
import { putEntry } from '../journal/entry-store.ts'
import { readWindow, recreditWindow } from '../ledger/window-store.ts'
import { type ApprovedFigures, requireApproval } from '../operator/approval-store.ts'
import { readAuditRecords, recordChange } from '../operator/audit-record-store.ts'
import type { Steps } from '../table/table.ts'
import { later, type Timestamp } from '../time.ts'
import {
  type CloseDeps,
  type CloseInput,
  statusRecord,
  wrongStateError,
} from './close-settlement.ts'
import { requireOwnSums } from './require-own-sums.ts'
import type { Settlement } from './settlement.ts'
import { findAnySettlement, markRecredited } from './settlement-store.ts'

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

/** Another operator, or a settlement that raises the fence, may refuse a try. */
const MAX_TRIES = 5

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
  booked: (
    settlement: Settlement,
    postedAt: Timestamp,
  ) => { readonly answer: Answer; readonly after: object; readonly steps: Steps<string> },
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
