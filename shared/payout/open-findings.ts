import { mapInChunks } from '../chunks.ts'
import type { TableDeps } from '../deps.ts'
import { type PaymentId, PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { hasSwept, type Settlement } from '../settlement/settlement.ts'
import { findSettlements } from '../settlement/settlement-store.ts'
import { openSuspense } from '../suspense/list-suspense.ts'

export type OpenFinding = { readonly clientId: string | undefined; readonly paymentId: PaymentId }

/** The open findings about payments, of all clients. An assumed fee is left out: it is counted as unproven. */
export async function openFindings(deps: TableDeps): Promise<readonly OpenFinding[]> {
  return (await openSuspense(deps)).flatMap(({ kind, cause, clientId, ...item }) => {
    const paymentId = ifValid(PaymentIdSchema, item.paymentId)
    return kind === 'finding' && cause !== 'fee_assumed' && paymentId
      ? [{ clientId, paymentId }]
      : []
  })
}

const AT_ONCE = 50

/** The number of findings that name a payment of a settlement, or of a failed one that it carries. */
export async function countFindings(
  deps: TableDeps,
  settlement: Settlement,
  findings: readonly OpenFinding[],
): Promise<number> {
  const own = findings.filter(({ clientId }) => clientId === settlement.clientId)
  if (own.length === 0) return 0
  const settlements = await withCarried(deps, settlement)
  const named = await mapInChunks(own, AT_ONCE, async ({ paymentId }) => {
    const payment = await findStoredPayment(deps, paymentId)
    if (payment === undefined || payment.status === 'creating') return false
    return entriesOf(payment).some(({ eligibleAt }) =>
      settlements.some((one) => hasSwept(one, eligibleAt)),
    )
  })
  return named.filter(Boolean).length
}

/** A settlement with the failed ones that its re-credits carry, and those that they carry. Reads back to the oldest. */
async function withCarried(
  deps: TableDeps,
  settlement: Settlement,
): Promise<readonly Settlement[]> {
  const carried = [settlement]
  let left = recreditsIn(settlement)
  let { previousId } = settlement
  while (left > 0 && previousId !== undefined) {
    const [older]: readonly Settlement[] = await findSettlements(deps, [previousId])
    const at = older?.recreditedAt
    if (older && at && carried.some((one) => hasSwept(one, at))) {
      carried.push(older)
      left += recreditsIn(older) - 1
    }
    previousId = older?.previousId
  }
  return carried
}

function recreditsIn({ totals }: Settlement): number {
  return totals.reduce((sum, { type, count }) => sum + (type === 'recredit' ? count : 0), 0)
}
