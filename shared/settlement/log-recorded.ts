import type { Deps } from '../deps.ts'
import type { Settlement } from './settlement.ts'

/** The one line about a settlement that now waits for its payout. Amounts in IDR. */
export const logRecorded = ({ log }: Pick<Deps, 'log'>, settlement: Settlement): void =>
  log.info('settlement.recorded', {
    settlement_id: settlement.settlementId,
    client_id: settlement.clientId,
    payments: settlement.paymentCount,
    net_minor: settlement.netMinor,
    triggered_by: settlement.triggeredBy,
  })
