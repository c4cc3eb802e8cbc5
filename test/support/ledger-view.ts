import type { Deps } from '../../shared/deps.ts'
import type { ClientId } from '../../shared/ids.ts'
import { balanceOf, countOf, readLedger } from '../../shared/ledger/ledger-store.ts'
import { PAYMENT_STATUSES } from '../../shared/payment-status.ts'

/** A client's pending balance and its counts that are not zero, for one comparison in a test. */
export const ledgerView = async (deps: Deps, clientId: ClientId) => {
  const ledger = await readLedger(deps, clientId)
  const counts = PAYMENT_STATUSES.map((status) => [status, countOf(ledger, status)] as const)
  return {
    pendingMinor: balanceOf(ledger).pendingMinor as number,
    ...Object.fromEntries(counts.filter(([, count]) => count !== 0)),
  }
}
