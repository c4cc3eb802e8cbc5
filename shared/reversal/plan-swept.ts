import type { Deps, StoreDeps } from '../deps.ts'
import { type Payment, placeOf } from '../payment/payment.ts'
import { sumsOf } from '../settlement/paid-payments.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { noteReversedOf, settlementsOfPayment } from '../settlement/settlement-store.ts'
import { checkWaiting, leaveOutStep } from '../settlement/window-store.ts'
import { newSuspense } from '../suspense/suspense-store.ts'
import { isWhole, type MoneyBack, notePayment, owedFor, type Planned, reversalFinding } from './plan-reversal.ts'

/** The settlement that pays the payment out, or has: the last of those that were recorded for its window. */
const latestSettlement = async (deps: Pick<Deps, 'table'>, payment: Payment): Promise<Settlement> => {
  const place = placeOf(payment)
  const settlements = place === undefined ? [] : await settlementsOfPayment(deps, payment.clientId, place)
  const replaced = new Set(settlements.map(({ replaces }) => replaces))
  const latest = settlements.find(({ settlementId }) => !replaced.has(settlementId))
  if (latest === undefined) throw new Error('the settlement of a payment that went back is not to be found yet')
  return latest
}

/**
 * Behind the sweep, by what has become of the payment's settlement. Not paid out yet: it is noted there, so that nobody
 * pays it out unseen, and its client owes it, until a re-credit leaves it out. Waiting to be recorded again: it waits no
 * longer. Paid out: its client owes it. Refused when the settlement has left its state meanwhile.
 */
export const planSwept = async (deps: StoreDeps, payment: Payment, back: MoneyBack): Promise<Planned> => {
  const settlement = await latestSettlement(deps, payment)
  const at = deps.now()
  const { clientId, paymentId, netMinor } = payment
  const whole = isWhole(back, payment)
  const sums = sumsOf(payment)
  const noteOn = whole && settlement.status !== 'manual_paid' ? { settlementId: settlement.settlementId } : {}
  const own = notePayment(payment, back, at, noteOn)
  if (whole && settlement.recreditedAt !== undefined) {
    const noted = reversalFinding(payment, back, 'reversal_deducted', at)
    return {
      noted,
      steps: {
        payment: own,
        settlement: noteReversedOf(settlement, { paymentId, sums, receivableId: undefined, at }),
        window: leaveOutStep(clientId, settlement.settlementId, netMinor, at),
        suspense: newSuspense(noted),
      },
    }
  }
  const noted = owedFor(payment, back, at)
  const steps = { payment: own, suspense: newSuspense(noted) }
  if (settlement.status === 'manual_paid' || noted.kind !== 'receivable') return { noted, steps }
  const reversed = {
    paymentId,
    sums: whole ? sums : undefined,
    receivableId: whole ? noted.suspenseId : undefined,
    at,
  }
  return {
    noted,
    steps: {
      ...steps,
      settlement: noteReversedOf(settlement, reversed),
      // One that was recorded again is no longer what is paid out.
      window: settlement.recreditedAt === undefined ? undefined : checkWaiting(clientId, settlement.settlementId),
    },
  }
}
