import type { Deps, StoreDeps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import { payOutOfWindow, readWindow } from '../ledger/window-store.ts'
import { type ApprovedFigures, useOf } from '../operator/approval-store.ts'
import {
  type CloseDeps,
  type CloseInput,
  closeSettlement,
  wrongStateError,
} from '../settlement/close-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { findAnySettlement, putBankReference } from '../settlement/settlement-store.ts'
import { later } from '../time.ts'
import { findPayoutApproval, isCovered, payoutFigures } from './payout-figures.ts'
import { passGate } from './payout-gate.ts'

/** An audit that ends meanwhile changes a verdict; then the payout gate runs again. */
const MAX_TRIES = 3

type GateDeps = Pick<Deps, 'table' | 'stage' | 'sleep' | 'now' | 'log' | 'alerts'>

/**
 * Moves a settlement from `recorded` to `manual_paid` after the operator's bank transfer (spec
 * 3.2), once. One transaction writes settlement, window, bank reference and audit record, on
 * condition of what the payout gate saw; it uses up the approval of its figures. Throws 422, and
 * 409 for a reference that paid out another settlement.
 */
export async function markSettlementPaid(
  deps: CloseDeps & GateDeps,
  input: CloseInput & { readonly bankReference: string; readonly notes?: string | undefined },
): Promise<Settlement> {
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const before = await findAnySettlement(deps, input.settlementId)
    if (before.status !== 'recorded') throw wrongStateError('marked paid', before)
    const conditions = await passGate(deps, before)
    const figures = await payoutFigures(deps, before)
    const approved = await findPayoutApproval(deps, before, figures)
    const approval = approved && useOf(deps, approved)
    const { closedUntil } = await readWindow(deps, before.clientId)
    const settledAt = later(deps.now(), closedUntil)
    const after: Settlement = {
      ...before,
      status: 'manual_paid',
      settledAt,
      bankReference: input.bankReference,
      notes: input.notes ?? before.notes,
    }
    const details = {
      bank_reference: input.bankReference,
      figures,
      ...(approval && { approved: approval.shown }),
    }
    const action = { operator: input.operator, action: 'mark-settlement-paid', details }
    const steps = {
      ...conditions,
      approval: approval?.step,
      window: payOutOfWindow(before.clientId, before.netMinor, settledAt),
      reference: putBankReference(input.bankReference, before.settlementId),
    }
    const outcome = await closeSettlement(deps, { before, after, action }, steps)
    if (outcome.applied) {
      const logFailure = (cause: unknown) =>
        deps.log.error('alert.failed', { settlement_id: before.settlementId }, cause)
      await alertGrowth(deps, before, approval?.figures ?? {}).catch(logFailure)
      return after
    }
    if (outcome.refusedBy !== 'reference') continue
    throw new GatewayError(
      'conflict',
      `bank_reference ${input.bankReference} has paid out another settlement`,
      {
        actionHint:
          'Each transfer has its own reference: look it up at the bank. list-settlements ' +
          'shows which settlement has this one.',
      },
    )
  }
  throw new GatewayError(
    'conflict',
    'this client is being audited right now; try again in a minute',
  )
}

/** The debt and the findings may have grown between the read and the commit. */
async function alertGrowth(
  deps: StoreDeps & Pick<Deps, 'alerts' | 'log'>,
  settlement: Settlement,
  approved: ApprovedFigures,
): Promise<void> {
  const { settlementId } = settlement
  const { owed = 0, findings = 0 } = await payoutFigures(deps, settlement)
  if (isCovered({ owed, findings }, { owed: 0, findings: 0, ...approved })) return
  deps.log.warn('payout.changed', { settlement_id: settlementId })
  await deps.alerts.publish({
    kind: 'payout.changed',
    subject: settlementId,
    message:
      `Settlement ${settlementId} was marked paid while its figures grew: the client owes ` +
      `${owed} IDR, and ${findings} findings name its payments. The approval named ` +
      `${approved['owed'] ?? 0} and ${approved['findings'] ?? 0}. Check it with list-suspense.`,
  })
}
