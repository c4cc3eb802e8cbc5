import type { TableDeps } from '../deps.ts'
import { PaymentIdSchema } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { findStoredPayment } from '../payment/payment-store.ts'
import { entriesOf } from '../posting/payment-entries.ts'
import { hasSwept, type Settlement } from '../settlement/settlement.ts'
import { findSettlements } from '../settlement/settlement-store.ts'
import { openSuspensePages } from '../suspense/list-suspense.ts'
import type { Suspense } from '../suspense/suspense.ts'

const recreditsIn = ({ totals }: Settlement): number =>
  totals.reduce((sum, { type, count }) => sum + (type === 'recredit' ? count : 0), 0)

/** A settlement with the failed ones that its re-credits carry, and those that they carry. Reads back to the oldest. */
const withCarried = async (deps: TableDeps, settlement: Settlement): Promise<readonly Settlement[]> => {
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

/** A payment without a settled row is counted as unproven already. */
const ASSUMED = 'fee_assumed'

const isInOneOf = async (deps: TableDeps, settlements: readonly Settlement[], item: Suspense) => {
  const id = ifValid(PaymentIdSchema, item.paymentId)
  if (item.kind !== 'finding' || item.cause === ASSUMED || !id) return false
  const payment = await findStoredPayment(deps, id)
  if (payment === undefined || payment.status === 'creating') return false
  return entriesOf(payment).some(({ eligibleAt }) => settlements.some((one) => hasSwept(one, eligibleAt)))
}

/** The number of open findings that name a payment of a settlement, or of a failed one that it carries. */
export const openFindings = async (deps: TableDeps, settlement: Settlement): Promise<number> => {
  const settlements = await withCarried(deps, settlement)
  let count = 0
  for await (const items of openSuspensePages(deps)) {
    const own = items.filter(({ clientId }) => clientId === settlement.clientId)
    const named = await Promise.all(own.map((item) => isInOneOf(deps, settlements, item)))
    count += named.filter(Boolean).length
  }
  return count
}
