import type { Deps } from '../deps.ts'
import { conflict, GatewayError, invalidField, refused } from '../errors.ts'
import { payOutOfWindow, readWindow } from '../ledger/window-store.ts'
import { type UsedApproval, useOf } from '../operator/approval-store.ts'
import { liveBatchOf } from '../settlement/batch/batch-store.ts'
import {
  type CloseDeps,
  closeSettlement,
  type TransferInput,
  wrongStateError,
} from '../settlement/close-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { findAnySettlement, putBankReference } from '../settlement/settlement-store.ts'
import { addMs, DAY_MS, later, type Timestamp } from '../time.ts'
import { alertGrowth } from './alert-growth.ts'
import { alertUnexpectedAnswer, recordOfUse } from './note-use-of-file.ts'
import { type PayoutFigures, passWithFigures } from './payout-figures.ts'
import { type GateDeps, passGate } from './payout-gate.ts'

/** An audit that ends meanwhile changes a verdict, and a file its batch: the gate runs again. */
const MAX_TRIES = 3

type PaidDeps = GateDeps & Pick<Deps, 'alerts' | 'queues'>

/**
 * Moves a settlement from `recorded` to `manual_paid` after the operator's bank transfer (spec
 * 3.2), once. One transaction writes settlement, window, bank reference and audit record, on
 * condition of what the payout gate saw; it uses up the approval of its figures. A settlement in a
 * live batch has passed the gate and used its approval there: what the bank did is written down
 * even if the gate refuses by now, with an alert. The first payout of a file marks its batch as
 * used, and a used batch is not cancelled. Throws 422, for a failed settlement after an alert, and
 * 409 for a reference that paid out another settlement.
 */
export async function markSettlementPaid(
  deps: CloseDeps & PaidDeps,
  input: TransferInput,
): Promise<Settlement> {
  const { operator } = input
  const reference = paidReference(input)
  let alerted = false
  for (let tried = 0; tried < MAX_TRIES; tried++) {
    const before = await findAnySettlement(deps, input.settlementId)
    if (before.status !== 'recorded') {
      if (before.status === 'failed') throw await paidAfterFailed(deps, before)
      if (isPaidBy(before, input)) await alertGrowthAgain(deps, before)
      throw wrongStateError('marked paid', before)
    }
    requireNear(input, deps.now())
    const live = await liveBatchOf(deps, before)
    const batch = live?.number
    const { conditions, refusal, figures, approval } =
      batch === undefined ? await passOutsideBatch(deps, before) : await passInBatch(deps, before)
    // Before the change: a crash may repeat the alert, but never loses it.
    if (refusal && !alerted) await alertPaidThoughRefused(deps, before, refusal)
    alerted ||= refusal !== undefined
    const { closedUntil } = await readWindow(deps, before.clientId)
    const settledAt = later(deps.now(), closedUntil)
    const after: Settlement = {
      ...before,
      status: 'manual_paid',
      settledAt,
      bankReference: reference,
      notes: input.notes ?? before.notes,
    }
    const details = {
      bank_reference: reference,
      ...(batch === undefined ? { figures } : { batch }),
      ...(approval && { approved: approval.shown }),
    }
    const action = { operator, action: 'mark-settlement-paid', details }
    const secondRecord = recordOfUse(
      live,
      { operator, outcome: 'paid' },
      live?.state === 'open' ? { settlement_id: before.settlementId } : { used_at: settledAt },
    )
    const steps = {
      verdict: conditions.verdict,
      client: conditions.client,
      approval: approval?.step,
      window: payOutOfWindow(before.clientId, before.netMinor, settledAt),
      reference: putBankReference(reference, before.settlementId),
    }
    const outcome = await closeSettlement(deps, { before, after, action, secondRecord }, steps)
    if (outcome.applied) {
      if (batch === undefined) await alertGrowth(deps, before)
      return after
    }
    if (outcome.refusedBy === 'reference') throw usedReference(reference)
  }
  throw conflict('the audit or the batch of the settlement has just changed; try again')
}

/** The money may go out twice, so operators are told at once. */
async function paidAfterFailed(
  deps: PaidDeps,
  { settlementId, clientId, recreditedAt }: Settlement,
) {
  const again = recreditedAt
    ? `Its money is in a later settlement: update-client --client_id ${clientId} --payout_hold REASON stops that one`
    : 'Do not run recredit-settlement'
  const hint = `${again} until the bank says whether the money arrived.`
  await alertUnexpectedAnswer(
    deps,
    settlementId,
    `Settlement ${settlementId} of client ${clientId} is said to be paid, but it is marked failed. ${hint}`,
  )
  return refused('settlement cannot be marked paid in status=failed', hint)
}

/** A mistyped year would free a reference that has paid out another settlement. */
function requireNear({ valueDate: day }: Transfer, now: Timestamp) {
  if (day && (day < addMs(now, -330 * DAY_MS) || day > addMs(now, 330 * DAY_MS)))
    throw invalidField('value_date', `${day} is more than 330 days from today; check its year`)
}

/** Whether this transfer has paid the settlement. */
export function isPaidBy({ bankReference }: Settlement, transfer: Transfer) {
  return bankReference === paidReference(transfer)
}

/** A process that died after its commit has raised no alert. What came back is owed again. */
export async function alertGrowthAgain(deps: PaidDeps, settlement: Settlement) {
  if (settlement.returnedAt ?? (await liveBatchOf(deps, settlement))) return
  await alertGrowth(deps, settlement)
}

type Transfer = Pick<TransferInput, 'bankReference' | 'valueDate'>

/** The key of a transfer: numbers that begin again each day need the day. */
function paidReference({ bankReference, valueDate }: Transfer) {
  return valueDate === undefined ? bankReference : `${bankReference}#${valueDate}`
}

type Passed = {
  readonly conditions: Partial<Awaited<ReturnType<typeof passGate>>>
  readonly refusal?: GatewayError
  readonly figures?: PayoutFigures
  readonly approval?: UsedApproval | undefined
}

async function passOutsideBatch(deps: GateDeps, settlement: Settlement): Promise<Passed> {
  const { approval, ...passed } = await passWithFigures(deps, settlement)
  return { ...passed, approval: approval && useOf(deps, approval) }
}

/** The batch has used the approval up. */
async function passInBatch(deps: GateDeps, settlement: Settlement): Promise<Passed> {
  try {
    return { conditions: await passGate(deps, settlement) }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { conditions: {}, refusal: error }
  }
}

function alertPaidThoughRefused(
  deps: PaidDeps,
  { settlementId, batch }: Settlement,
  why: GatewayError,
) {
  return alertUnexpectedAnswer(
    deps,
    settlementId,
    `Settlement ${settlementId} of batch ${batch} was paid by the bank, and is marked paid, ` +
      `though the payout gate refuses it by now: ${why.message}. ` +
      'Find out what changed after its file was made.',
  )
}

function usedReference(reference: string) {
  return conflict(
    `bank_reference ${reference} has paid out another settlement`,
    'Each transfer has its own reference: look it up at the bank. list-settlements shows ' +
      'which settlement has this one. If the bank’s numbers begin again each day, give ' +
      'value_date.',
  )
}
