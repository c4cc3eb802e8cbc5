import { mayBePaidOut, requireClient } from '../client/client-store.ts'
import { GatewayError } from '../errors.ts'
import { payOutOfWindow } from '../ledger/window-store.ts'
import { type Close, type CloseDeps, closeSettlement, wrongState } from '../settlement/close-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { findAnySettlement, putBankReference } from '../settlement/settlement-store.ts'
import { assertConfirmed, type Confirm, toConfirm } from './confirm.ts'
import { type GateDeps, passGate } from './pass-gate.ts'

type PayDeps = CloseDeps & GateDeps

const usedReference = (reference: string): GatewayError =>
  new GatewayError('conflict', `bank_reference ${reference} has paid out another settlement`, {
    actionHint: 'Each transfer has a reference of its own: look it up at the bank. list-settlements shows whose it is.',
  })

/** An audit that ends meanwhile changes a verdict; then the gate is passed again. */
const MOST_TRIES = 3

/**
 * Moves a settlement from `recorded` to `manual_paid` after the operator's bank transfer (spec 3.2). Passes the payout
 * gate and needs its figures confirmed. One transaction writes settlement, window, bank reference and audit record, on
 * condition of what the gate saw. Happens once; terminal. Throws 422, and 409 for a reference that paid out another
 * settlement.
 */
export const markSettlementPaid = async (
  deps: PayDeps,
  input: Close & { readonly bankReference: string; readonly notes: string | undefined; readonly confirm: Confirm },
): Promise<Settlement> => {
  for (let tried = 0; tried < MOST_TRIES; tried++) {
    const before = await findAnySettlement(deps, input.settlementId)
    if (before.status !== 'recorded') throw wrongState('marked paid', before)
    const client = await requireClient(deps, before.clientId)
    const verdicts = await passGate(deps, client, before)
    assertConfirmed(await toConfirm(deps, before), input.confirm)
    const after: Settlement = {
      ...before,
      status: 'manual_paid',
      settledAt: deps.now(),
      bankReference: input.bankReference,
      notes: input.notes ?? before.notes,
    }
    const by = {
      operator: input.operator,
      action: 'mark-settlement-paid',
      noted: { bank_reference: input.bankReference, confirm: input.confirm },
    }
    const outcome = await closeSettlement(
      deps,
      { before, after, by },
      {
        ...verdicts,
        window: payOutOfWindow(before.clientId, before.netMinor),
        client: mayBePaidOut(before.clientId),
        reference: putBankReference(input.bankReference, before.settlementId),
      },
    )
    if (outcome.applied) return after
    if (outcome.refusedBy === 'reference') throw usedReference(input.bankReference)
  }
  throw new GatewayError('conflict', 'this client is being audited right now; try again in a minute')
}
