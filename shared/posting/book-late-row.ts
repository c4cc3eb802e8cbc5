import type { StoreDeps } from '../deps.ts'
import { moveCredit } from '../ledger/shard-store.ts'
import { readWindow } from '../ledger/window-store.ts'
import { ZERO } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { later } from '../time.ts'
import type { SettledRow } from './post-payments.ts'
import { changeMoney } from './posting-store.ts'

/**
 * Books the settled row of a payment that was posted without it (design section 12), once: zeros for the client, the
 * whole row at the provider. False when the payment has changed since it was read, or its journal was closed.
 */
export const bookLateRow = async (deps: StoreDeps, payment: Payment, row: SettledRow): Promise<boolean> => {
  const { closedUntil } = await readWindow(deps, payment.clientId)
  const lateRowAt = later(deps.now(), closedUntil)
  const ownRow = { transactionId: row.transactionId, providerMinor: row.providerMinor }
  const after: Payment = { ...payment, ownRow, lateRowAt, providerSettledAt: row.settledAt }
  const { applied } = await deps.table.transact({
    ...changeMoney(payment, after),
    ledger: moveCredit(payment, ZERO, lateRowAt),
  })
  return applied
}
