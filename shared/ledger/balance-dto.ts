import type { ClientId } from '../ids.ts'
import type { Balance } from './balance.ts'
import type { BalanceDto } from './balance-dto-schema.ts'

/** The balance object (spec 2.2); with the figures of settlements where they were asked for. */
export const toBalanceDto = (clientId: ClientId, balance: Balance, include?: 'settlements'): BalanceDto => ({
  client_id: clientId,
  currency: 'IDR',
  available_minor: balance.availableMinor,
  pending_minor: balance.pendingMinor,
  ...(include && { in_settlement_minor: balance.inSettlementMinor, paid_out_minor: balance.paidOutMinor }),
  updated_at: balance.updatedAt ?? null,
})
