import { mapInChunks } from '../chunks.ts'
import type { TableDeps } from '../deps.ts'
import { type PaymentId, PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { hasSwept, type Settlement } from '../settlement/settlement.ts'
import { findSettlements } from '../settlement/settlement-store.ts'
import { listOpenSuspense } from '../suspense/list-suspense.ts'

export type OpenFinding = { readonly clientId: string | undefined; readonly paymentId: PaymentId }

/** Findings of all clients. An assumed fee is left out: it is counted as unproven. */
export async function openFindings(deps: TableDeps): Promise<readonly OpenFinding[]> {
  return (await listOpenSuspense(deps)).flatMap(({ kind, cause, clientId, ...item }) => {
    const paymentId = ifValid(PaymentIdSchema, item.paymentId)
    return kind === 'finding' && cause !== 'fee_assumed' && paymentId
      ? [{ clientId, paymentId }]
      : []
  })
}

const AT_ONCE = 50

/**
 * The number of findings that name a payment of a settlement, or of a failed settlement that its
 * re-credits carry.
 */
export async function countFindings(
  deps: TableDeps,
  settlement: Settlement,
  findings: readonly OpenFinding[],
): Promise<number> {
  const ownFindings = findings.filter(({ clientId }) => clientId === settlement.clientId)
  if (ownFindings.length === 0) return 0
  const settlements = await carriedSettlements(deps, settlement)
  const isNamed = await mapInChunks(ownFindings, AT_ONCE, async ({ paymentId }) => {
    const payment = await findStoredPayment(deps, paymentId)
    if (payment === undefined || payment.status === 'creating') return false
    return entriesOf(payment).some(({ eligibleAt }) =>
      settlements.some((carrier) => hasSwept(carrier, eligibleAt)),
    )
  })
  return isNamed.filter(Boolean).length
}

/** Re-credits carry failed settlements directly or in turn. Reads back to the oldest. */
async function carriedSettlements(
  deps: TableDeps,
  settlement: Settlement,
): Promise<readonly Settlement[]> {
  const carried = [settlement]
  let recreditsLeft = recreditsIn(settlement)
  let { previousId } = settlement
  while (recreditsLeft > 0 && previousId !== undefined) {
    const [older]: readonly Settlement[] = await findSettlements(deps, [previousId])
    const at = older?.recreditedAt
    if (older && at && carried.some((carrier) => hasSwept(carrier, at))) {
      carried.push(older)
      recreditsLeft += recreditsIn(older) - 1
    }
    previousId = older?.previousId
  }
  return carried
}

function recreditsIn({ totals }: Settlement): number {
  return totals.reduce((sum, { type, count }) => sum + (type === 'recredit' ? count : 0), 0)
}
