import type { StoreDeps } from '../deps.ts'
import type { SettlementId } from '../ids.ts'
import { correctCredit, type Window } from '../ledger/ledger-store.ts'
import {
  countReversal,
  endDeduction,
  isDeducted,
  type LedgerReversal,
  putReversal,
  reversalsBetween,
} from '../ledger/reversal-store.ts'
import type { Minor } from '../money.ts'
import { type Payment, placeOf, type Reversal } from '../payment/payment.ts'
import { noteReversal } from '../payment/payment-store.ts'
import { sumsOf } from '../settlement/paid-payments.ts'
import { findAnySettlement, noteUndoneOf } from '../settlement/settlement-store.ts'
import { readWindow } from '../settlement/window-store.ts'
import { closeReinstated, findSuspense, newSuspense, undoneThoughClosed } from '../suspense/suspense-store.ts'
import type { Step } from '../table/step.ts'
import type { Steps } from '../table/table.ts'
import { addMs, type Timestamp } from '../time.ts'
import { isSwept, ledgerReversal, type Planned, reversalFinding } from './plan-reversal.ts'
import { owePartsAgain } from './reversed-parts.ts'

/** Money of a credited payment that went back and comes again, by one of the provider's transactions. */
export type MoneyAgain = { readonly transactionId: string; readonly amountMinor: Minor }

type Whole = NonNullable<Reversal['whole']>

/** The payment's own step: the condition of all the others. All of it is there again. */
const noteUndone = (payment: Payment, reversal: Reversal, { transactionId }: MoneyAgain, more: Partial<Reversal>) => {
  const { wholeAt: _, ...before } = reversal
  return noteReversal(payment, { ...before, ...more }, transactionId)
}

const deductionOf = async (
  deps: StoreDeps,
  { clientId, paymentId }: Payment,
  place: Timestamp,
): Promise<LedgerReversal | undefined> => {
  const there = await reversalsBetween(deps, clientId, { start: place, end: addMs(place, 1) })
  return there.find((reversal) => reversal.paymentId === paymentId && isDeducted(reversal))
}

/** What its client owes for it, by what has become of that. */
const closeReceivable = async (deps: StoreDeps, receivableId: string, by: string): Promise<Step | undefined> => {
  const item = await findSuspense(deps, receivableId)
  if (item === undefined || item.leftOutBy !== undefined) return undefined
  return item.status === 'open' ? closeReinstated(item, by) : undoneThoughClosed(item, by, deps.now())
}

/**
 * All of a payment that went back by a dispute comes again (design section 10), the mirror of what its going back did. Its
 * window is not swept: the deduction becomes nothing. A settlement was recorded without it, or left it out: it is put back
 * as of now, and the settlement of that window has it. It is still in its settlement: nobody owes it any more. What was
 * owed for parts of it is owed again.
 */
export const planUndo = async (
  deps: StoreDeps,
  payment: Payment,
  { reversal, whole }: { readonly reversal: Reversal; readonly whole: Whole },
  again: MoneyAgain,
): Promise<Planned> => {
  const at = deps.now()
  const window = await readWindow(deps, payment.clientId)
  const noted = reversalFinding(payment, again, 'reversal_undone', at)
  const parts = await owePartsAgain(deps, payment, { whole: whole.transactionId, by: again.transactionId })
  const steps = await moneySteps(deps, { payment, reversal, whole, again, at, window })
  return { noted, steps: { ...steps, ...parts, suspense: newSuspense(noted) } }
}

type Undo = {
  readonly payment: Payment
  readonly reversal: Reversal
  readonly whole: Whole
  readonly again: MoneyAgain
  readonly at: Timestamp
  readonly window: Window
}

const moneySteps = async (deps: StoreDeps, undo: Undo): Promise<Steps<string>> => {
  const { payment, reversal, whole, again, at, window } = undo
  const deduction = await deductionOf(deps, payment, placeOf(payment) ?? at)
  if (deduction) return isSwept(payment, window) ? putBack(undo) : endDeductionSteps(undo, deduction)
  const settlement = whole.settlementId && (await findAnySettlement(deps, whole.settlementId))
  if (settlement?.recreditedAt !== undefined) return putBack(undo, settlement.settlementId)
  const receivableId = `${whole.transactionId}#reversed_after_settlement`
  return {
    payment: noteUndone(payment, reversal, again, { undoneAt: at }),
    settlement:
      settlement &&
      noteUndoneOf(settlement.settlementId, { paymentId: payment.paymentId, sums: sumsOf(payment), receivableId }),
    receivable: await closeReceivable(deps, receivableId, again.transactionId),
  }
}

/** It stands where it stood. */
const endDeductionSteps = (
  { payment, reversal, again, at, window }: Undo,
  deduction: LedgerReversal,
): Steps<string> => {
  const { clientId, netMinor, paidAt } = payment
  const undone = { ...ledgerReversal(payment, window, { at }), undoes: deduction.seq }
  const { deductedAt: _, ...kept } = reversal
  const isOwnPlace = deduction.paidAt === paidAt
  return {
    payment: noteUndone(payment, isOwnPlace ? kept : reversal, again, { undoneAt: at }),
    ledger: correctCredit(payment, netMinor, at),
    deduction: endDeduction(clientId, deduction, undone.seq),
    reversal: putReversal(clientId, undone),
    window: countReversal(clientId, undone.paidAt, window),
  }
}

/** It stands at this moment from now on, as if it had been paid now. */
const putBack = ({ payment, reversal, again, at, window }: Undo, leftOutOf?: SettlementId): Steps<string> => {
  const { clientId, netMinor } = payment
  const reinstated = { ...ledgerReversal(payment, window, { at, place: at }), reinstated: true as const }
  return {
    payment: noteUndone(payment, reversal, again, { undoneAt: at, reinstatedAt: at }),
    ledger: correctCredit(payment, netMinor, at),
    reversal: putReversal(clientId, { ...reinstated, ...(leftOutOf && { leftOutOf }) }),
    window: countReversal(clientId, at, window),
  }
}
