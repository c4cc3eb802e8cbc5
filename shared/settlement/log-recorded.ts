import type { Deps } from '../deps.ts'
import type { Settlement } from './settlement.ts'

/** The line about a settlement that now waits for its payout, and a warning when it says not where to. Amounts in IDR. */
export const logRecorded = ({ log }: Pick<Deps, 'log'>, settlement: Settlement): void => {
  const { settlementId: settlement_id, clientId: client_id } = settlement
  // Nobody can pay it out as it is; operators see the same in their lists.
  if (settlement.bank === undefined) log.warn('settlement.without_bank', { settlement_id, client_id })
  log.info('settlement.recorded', {
    settlement_id,
    client_id,
    payments: settlement.paymentCount,
    net_minor: settlement.netMinor,
    triggered_by: settlement.triggeredBy,
  })
}
