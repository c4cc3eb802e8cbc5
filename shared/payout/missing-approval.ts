import type { Deps, StoreDeps } from '../deps.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { leaveOutFailed } from './judge-payouts.ts'
import { findPayoutApproval, payoutFigures } from './payout-figures.ts'

/**
 * Says which figures of a recorded settlement wait for an approval; null if none does. It reads
 * what a payout reads, and uses nothing up.
 */
export async function missingApproval(
  deps: StoreDeps & Pick<Deps, 'log'>,
  settlement: Settlement,
): Promise<string | null> {
  try {
    await findPayoutApproval(deps, settlement, await payoutFigures(deps, settlement))
    return null
  } catch (error) {
    const { reason, confirm } = leaveOutFailed(deps, settlement, error)
    return confirm ? `needs an approval of ${JSON.stringify(confirm)}` : reason
  }
}
